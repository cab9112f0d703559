import { describe, expect, it, onTestFinished } from 'vitest';
import { openQueues } from '../../../src/delivery/queues.js';
import { scheduledJob } from '../../../src/delivery/scheduled-job.js';
import { NO_COUNTS, type VerifiedList } from '../../../src/delivery/verify/verified.js';
import { silentLog } from '../../../src/kit/log.js';
import { useCli } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { openFeed } from '../../support/feed.js';
import { useMirrors } from '../../support/mirror.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';
import { bringForward } from '../../support/scheduled.js';

const test = useRedis();
const cli = useCli();
const { absent, admin, schemaName, rows, table, url } = await useMirrors();

const counts = (some: Partial<VerifiedList>): VerifiedList => ({
  ...{ workspace: 'acme', list: 'people', ...NO_COUNTS, because: [] },
  ...some,
});

const NOT_POLLED = ['organization', 'memo', 'todo', 'history', 'activity'].map((list) => [list, { enabled: false }]);

async function mirrored(more: object = {}) {
  const crm = await startOtherCrm();
  const [first] = crm.lists.people;
  crm.lists.people = Array.from({ length: 10 }, (_, number) => ({
    ...first,
    id: `p${number}`,
    이름: `가상인 ${number}`,
  }));
  const raw = {
    workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists: Object.fromEntries(NOT_POLLED) as object }],
    redis: { prefix: test.keys.prefix },
    subscriptions: [
      { handler: 'postgres', name: 'mirror', url, schema: schemaName(), start: 'snapshot', verify: '03:00', ...more },
    ],
  };
  const feed = await openFeed(test, raw);
  await feed.sweep({ lists: ['people'] });
  await feed.start(['dispatch', 'handle']);
  await eventually(async () => expect(await rows('id')).toHaveLength(10));
  return { feed, raw, crm };
}

/** What a person did in the database: one row is older, one is gone, one is alive that was never in the list, and one is as it was but for its sequence. */
async function damage(): Promise<void> {
  const one = (id: string) => `"workspace" = 'acme' AND "id" = '${id}'`;
  await admin.query(`UPDATE ${table()} SET "sequence" = -1, "data" = '{"id": "p1"}' WHERE ${one('p1')}`);
  await admin.query(`DELETE FROM ${table()} WHERE ${one('p2')}`);
  await admin.query(
    `INSERT INTO ${table()} ("workspace", "id", "data", "sequence", "observed_at") VALUES ('acme', 'stranger', '{}', 3, now())`,
  );
  await admin.query(`UPDATE ${table()} SET "sequence" = -1 WHERE ${one('p3')}`);
  await admin.query(`UPDATE ${table()} SET "deleted" = true, "data" = NULL WHERE ${one('p4')}`);
}

describe.skipIf(absent !== null)('verify of tables', () => {
  it('verify: reads the tables of postgres, where contents decide if sequences differ, and repairs them', async () => {
    const { feed } = await mirrored();
    expect((await feed.verify('mirror')).lists).toEqual([counts({ equal: 10 })]);
    await damage();
    const found = await feed.verify('mirror', undefined, { repair: true });
    expect(found).toMatchObject({ copy: 'tables', wrong: 4, repaired: 4 });
    expect(found.lists).toEqual([counts({ equal: 7, behind: 1, missing: 2, extra: 1 })]);
    await eventually(async () => expect((await feed.verify('mirror')).lists).toEqual([counts({ equal: 10 })]));
    expect(await rows('id, deleted')).toHaveLength(11);
  });

  it('verify: of a mirror with its history, a record whose newest version is missing or another is behind, and repaired', async () => {
    const { feed } = await mirrored({ history: true });
    expect((await feed.verify('mirror')).lists).toEqual([counts({ equal: 10 })]);
    await admin.query(`DELETE FROM ${table('people_versions')} WHERE "id" = 'p1'`);
    await admin.query(`UPDATE ${table('people_versions')} SET "sequence" = -1, "data" = '{}' WHERE "id" = 'p2'`);
    await admin.query(`UPDATE ${table('people_versions')} SET "sequence" = -1 WHERE "id" = 'p3'`);
    expect((await feed.verify('mirror', undefined, { repair: true })).lists).toEqual([counts({ equal: 8, behind: 2 })]);
    await eventually(async () => expect((await feed.verify('mirror')).lists).toEqual([counts({ equal: 10 })]));
  });

  it('verify: on a terminal, a wrong copy ends with 1 and says what to do; the status keeps the counts', async () => {
    const { feed, raw } = await mirrored();
    const folder = await cli({ 'changefeed.config.json': raw });
    const env = { REDIS_URL: test.url };
    expect(await folder.call(['verify', 'mirror'], env)).toMatchObject({ code: 0 });
    await damage();
    const { code, stdout } = await folder.call(['verify', 'mirror'], env);
    expect(code).toBe(1);
    expect(stdout.replace(/in \d.*\./, 'in a moment.')).toBe(
      [
        '"mirror": 4 of 11 records are wrong, compared with its tables in a moment.',
        'list    equal  in flight  behind  missing  extra  named',
        'people  7      0          1       2        1      —',
        'The first ones that are wrong:',
        '  people  p1  가상인 1  behind: the copy has sequence -1, the feed 0',
        '  people  p4  가상인 4  missing: the feed has sequence 0',
        '  people  stranger  extra: the list no longer has it',
        '  people  p2  가상인 2  missing: the feed has sequence 0',
        'Send them again: changefeed verify mirror --repair. What was missing from the start comes with it too, or with: changefeed snapshot mirror.',
        '',
      ].join('\n'),
    );
    const korean = await folder.call(['verify', 'mirror'], { ...env, LANG: 'ko_KR.UTF-8' });
    expect(korean.stdout.split('\n').slice(1, 3)).toEqual([
      '목록    같음  전달 중  오래됨  없음  남음  이유 있음',
      'people  7     0        1       2     1     —',
    ]);
    const json = await folder.call(['verify', 'mirror', '--json'], env);
    expect(JSON.parse(json.stdout)).toMatchObject({ wrong: 4, lists: [{ list: 'people', missing: 2 }] });
    expect((await feed.status()).subscriptions[0]?.verified).toMatchObject({ wrong: 4, nightly: true });
  });

  it('verify: a nightly run is planned once, and what it finds is a problem until it is right', async () => {
    const { feed } = await mirrored();
    await damage();
    const queues = openQueues({
      ...{ connect: () => test.connect({ maxRetriesPerRequest: null }), keys: test.keys },
      ...{ subscriptions: [{ name: 'mirror' }], logger: silentLog },
    });
    onTestFinished(() => queues.close());
    await eventually(async () => expect(await scheduledJob(queues.of('mirror'), 'acme')).toBeDefined());
    expect((await feed.status()).subscriptions[0]).toMatchObject({ delayed: 0, lagEvents: 0, verified: null });
    await bringForward(queues.of('mirror'));
    await eventually(async () =>
      expect((await feed.status()).problems.filter(({ kind }) => kind === 'copy.wrong')).toMatchObject([
        { severity: 'error', subject: 'subscription:mirror', facts: { count: 4, behind: 1, missing: 2, extra: 1 } },
      ]),
    );
    await feed.verify('mirror', undefined, { repair: true });
    await eventually(async () => expect((await feed.verify('mirror')).wrong).toBe(0));
    expect((await feed.status()).problems.filter(({ kind }) => kind === 'copy.wrong')).toEqual([]);
  });
});
