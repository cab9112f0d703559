import { describe, expect, it, onTestFinished } from 'vitest';
import { widthOf } from '../../src/cli/text.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { createSandbox } from '../../sandbox/sandbox.js';
import { useCli } from '../support/cli.js';
import { useRedis } from '../support/redis.js';

describe('event lines: the command line', () => {
  const cli = useCli();
  const redis = useRedis();

  it('event lines: tail names the person of a row, and with --ids what other commands take', async () => {
    const sandbox = createSandbox({ people: 5, activity: 4 });
    onTestFinished(() => sandbox.stop());
    const { url, token } = await sandbox.start();
    const others = Object.fromEntries(
      ['organization', 'memo', 'todo', 'history'].map((list) => [list, { enabled: false }]),
    );
    const lists = { ...others, people: { baseline: 'emit' }, activity: { baseline: 'emit' } };
    const folder = await cli({
      'changefeed.config.json': {
        workspaces: [{ name: 'acme', baseUrl: url, token, lists, todos: { watch: false } }],
        redis: { prefix: redis.keys.prefix },
      },
    });
    const env = { REDIS_URL: redis.url };
    // People first: the names of a row's line come from the stored records.
    for (const list of ['people', 'activity'])
      expect(await folder.call(['sweep', list], env)).toMatchObject({ code: 0 });

    const tail = async (...args: string[]): Promise<string[]> => {
      const { stdout } = await folder.call(['tail', '--from', 'beginning', '--no-follow', ...args], env);
      return stdout.trimEnd().split('\n');
    };
    const events = (await tail('--json')).map((line) => JSON.parse(line) as ChangeEvent);
    const people = new Map(events.map(({ subject, data }) => [subject, data.after?.['이름']]));
    const rows = events.filter(({ type }) => type === 'crm.person_activity.snapshot');
    expect(rows).toHaveLength(4);
    const lines = await tail('--ids', '--type', 'crm.person_activity.*');
    const expected = rows.map(({ id, subject, data: { after } }) => [
      `person_activity snapshot  ${people.get(String(after?.['peopleId'])) as string}  ${String(after?.['type'])}`,
      `event ${id}  record ${subject}`,
    ]);
    const texts = lines.map((line) => line.replace(/^ *(log \d+-\d+|[\d:]{8}) {2}/, '').replace(/ {2,}/g, '  '));
    expect(texts).toEqual(expected.flat());
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(140);
  });

  it('event lines: tail shows who made a change, and selects by it', async () => {
    const sandbox = createSandbox({ people: 20 });
    onTestFinished(() => sandbox.stop());
    const { url, token } = await sandbox.start();
    const others = Object.fromEntries(
      ['organization', 'memo', 'todo', 'history', 'activity'].map((list) => [list, false]),
    );
    const folder = await cli({
      'changefeed.config.json': {
        workspaces: [{ name: 'acme', baseUrl: url, token, lists: { ...others, people_history: true } }],
        redis: { prefix: redis.keys.prefix },
      },
    });
    const env = { REDIS_URL: redis.url };
    const sweep = async (): Promise<void> => {
      for (const list of ['people_history', 'people'])
        expect(await folder.call(['sweep', list], env)).toMatchObject({ code: 0 });
    };
    await sweep();
    sandbox.step(60);
    await sweep();
    const tail = async (...args: string[]): Promise<string[]> => {
      const { stdout } = await folder.call(
        ['tail', '--from', 'beginning', '--no-follow', '--type', 'crm.person.updated', ...args],
        env,
      );
      return stdout.split('\n').filter((line) => line !== '');
    };
    const events = (await tail('--json')).map((line) => JSON.parse(line) as ChangeEvent);
    const made = events.find(({ data }) => data.actor?.type === 'user')?.data.actor;
    const idsBy = async (who: string): Promise<string[]> =>
      (await tail('--json', '--actor', who)).map((line) => (JSON.parse(line) as ChangeEvent).id);
    const byThem = events.filter(({ data }) =>
      [data.actor, ...data.changes.map(({ actor }) => actor)].some((actor) => actor?.id === made?.id),
    );
    expect(await idsBy(made?.id ?? '')).toEqual(byThem.map(({ id }) => id));
    expect(byThem.length).toBeGreaterThan(0);
    expect(await idsBy('nobody-of-this-id')).toEqual([]);
    expect((await tail('--actor', made?.id ?? '')).join('\n')).toContain(` by ${made?.name ?? ''}`);
  });
});
