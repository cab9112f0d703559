import { describe, expect, it, onTestFinished } from 'vitest';
import { widthOf } from '../../src/cli/text.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { createSandbox } from '../../src/sandbox/sandbox.js';
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
});
