import { expect, it } from 'vitest';
import { useCli } from '../support/cli.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const cli = useCli();
const redis = useRedis();

it(
  'held: accept prints the number, and the next sweep emits the events; resync drops the baseline',
  { timeout: 240_000 },
  async () => {
    const crm = await startOtherCrm();
    const lists = { people: { creations: { maxShare: 0.2, maxCount: 5 } } };
    const folder = await cli({
      'changefeed.config.json': {
        workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists }],
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
    expect(JSON.parse((await run('held', '--json')).stdout)).toMatchObject({
      list: 'people',
      what: 'creations',
      count: 20,
    });
    expect((await run('accept', 'people')).stdout).toBe(
      'List "people": 20 held records accepted; the next complete sweep that still finds them emits them.\n',
    );
    const accepted = await run('sweep', 'people');
    expect(accepted.stdout.match(/crm\.person\.created/g)).toHaveLength(20);

    const what = 'This drops the baseline of people: changes since the last sweep will make no events';
    expect((await run('resync', 'people', '--dry-run')).stdout).toBe(`${what}. Nothing was changed.\n`);
    expect(await run('resync', 'people')).toMatchObject({
      code: 2,
      stderr: `changefeed: resync: ${what}. Without a terminal, confirm it with --yes. [CF_USAGE]\n`,
    });
    expect((await run('resync', 'all', '--yes')).stdout).toMatch(/^The baseline of (\w+, ){5}\w+ is dropped/);
    crm.lists.people.pop();
    expect(await run('sweep')).toMatchObject({ code: 0, stdout: '' });
  },
);
