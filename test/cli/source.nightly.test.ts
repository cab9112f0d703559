import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Status } from '../../src/ops/status.js';
import { STACK_OR_COLOUR, useCli, type CliFolder } from '../support/cli.js';
import { startOtherCrm, type OtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const TOKEN = 'tok-5f0c1e9bd2a7';

describe('source: the command line', { timeout: 240_000 }, () => {
  const cli = useCli();
  const redis = useRedis();

  async function folderAt(baseUrl: string): Promise<Pick<CliFolder, 'run'>> {
    const folder = await cli({
      'changefeed.config.json': {
        workspaces: [{ name: 'default', baseUrl, token: TOKEN }],
        redis: { prefix: redis.keys.prefix },
        subscriptions: [{ handler: 'ndjson', name: 'out' }],
      },
    });
    return {
      async run(args) {
        const done = await folder.run(args, { REDIS_URL: redis.url });
        expect(done.stdout + done.stderr).not.toMatch(STACK_OR_COLOUR);
        return done;
      },
    };
  }
  const eventsOf = (stdout: string): string[] =>
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as ChangeEvent)
      .map(({ type, subject }) => `${type} ${subject}`);
  const replaceRecords = (crm: OtherCrm): void => {
    for (const records of Object.values(crm.lists)) for (const record of records) record.id = `other-${record.id}`;
  };
  const edit = (crm: OtherCrm): string => {
    crm.lists.people[0] = { ...crm.lists.people[0]!, 이름: '다른 이름' };
    return `crm.person.updated ${crm.lists.people[0].id}`;
  };

  it('source: resync all accepts a new source without events', async () => {
    const [first, second] = [await startOtherCrm(), await startOtherCrm()];
    replaceRecords(second);
    await (await folderAt(first.url)).run(['sweep']);
    const theirs = await folderAt(second.url);
    expect((await theirs.run(['resync', 'people', '--dry-run'])).stdout).toBe(
      'This drops the baseline of people: changes since the last sweep will make no events. Nothing was changed.\n',
    );
    expect(await theirs.run(['resync', 'people'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Without a terminal, confirm it with --yes. [CF_USAGE]') as string,
    });
    expect((await theirs.run(['resync', 'all', '--yes'])).stdout.match(/baseline is dropped/g)).toHaveLength(6);
    for (let sweeps = 0; sweeps < 3; sweeps += 1)
      expect(await theirs.run(['sweep'])).toMatchObject({ code: 0, stdout: '' });
    const event = edit(second);
    expect(eventsOf((await theirs.run(['sweep'])).stdout)).toEqual([event]);
    const status = JSON.parse((await theirs.run(['status', '--json'])).stdout) as Status;
    expect(status.workspaces[0]!.lists.map(({ records }) => records)).toEqual([17, 14, 9, 8, 7, 3]);
  });
});

describe('held: the command line', { timeout: 240_000 }, () => {
  const cli = useCli();
  const redis = useRedis();

  it('held: accept prints the number, and the next sweep emits the events', async () => {
    const crm = await startOtherCrm();
    const folder = await cli({
      'changefeed.config.json': {
        workspaces: [
          {
            name: 'acme',
            baseUrl: crm.url,
            token: TOKEN,
            lists: { people: { creations: { maxShare: 0.2, maxCount: 5 } } },
          },
        ],
        redis: { prefix: redis.keys.prefix },
        subscriptions: [{ handler: 'ndjson', name: 'out' }],
      },
    });
    const run = (...args: string[]) => folder.run(args, { REDIS_URL: redis.url });
    await run('sweep', 'people');
    expect((await run('accept', 'people')).stdout).toBe('List "people": nothing is held.\n');
    expect((await run('held')).stdout).toBe('Nothing is held.\n');
    crm.lists.people.unshift(...Array.from({ length: 20 }, (_, n) => ({ id: `new-${n}`, 이름: `새 사람 ${n}` })));
    const held = await run('sweep', 'people');
    expect([held.code, held.stdout]).toEqual([0, '']);
    expect(held.stderr).toContain('20 of 37 records are new and are held; this is more than may change at once.');
    expect((await run('held')).stdout).toMatch(
      /acme people: 20 of 37 records are new and are held; .*changefeed accept people/s,
    );
    expect(JSON.parse((await run('held', '--json')).stdout)).toMatchObject([
      { list: 'people', what: 'creations', count: 20 },
    ]);
    expect((await run('accept', 'people')).stdout).toBe(
      'List "people": 20 new records accepted; the next complete sweep that still finds them emits them.\n',
    );
    const accepted = await run('sweep', 'people');
    expect(accepted.stdout.match(/crm\.person\.created/g)).toHaveLength(20);
  });
});
