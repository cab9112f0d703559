/** Records with far more fields than usual, over real HTTP and a real Redis, all the way to the log. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Changefeed } from '../../../src/actions/feed.js';
import { openChangefeed } from '../../../src/service/changefeed.js';
import { parseConfig } from '../../../src/config/parse.js';
import { MOST_FIELDS } from '../../../src/feed/detect/schema-drift/schema.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import { silentLog, type Log } from '../../../src/kit/log.js';
import { startOtherCrm, type OtherRecord } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

const LISTS = ['people', 'organization', 'memo', 'todo', 'history', 'activity'];

describe('wide records', { timeout: 240_000 }, () => {
  const redis = useRedis();

  async function open(options: object = {}) {
    const crm = await startOtherCrm();
    const people: OtherRecord[] = [];
    crm.fault = (list) => (list === 'people' ? { body: { success: true, data: { peopleList: people } } } : undefined);
    const disabled = Object.fromEntries(LISTS.map((list) => [list, { enabled: false }]));
    const lists = { ...disabled, people: options };
    const raw = {
      workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists }],
      redis: { prefix: redis.keys.prefix },
    };
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (_facts, message) => void warnings.push(message), child: () => log };
    const config = parseConfig(raw, { source: 'the test', redisUrl: redis.url });
    const feed = await openChangefeed({ config, log });
    onTestFinished(() => feed.stop());
    return { feed, people, warnings };
  }
  const counts = async (feed: Changefeed): Promise<unknown> => {
    const [swept] = await feed.sweep();
    if (swept?.outcome !== 'complete') throw new Error('the sweep is incomplete', { cause: swept?.error });
    const { seen, unchanged, baselined, created, edited, ignored } = swept.summary.counts;
    return { seen, unchanged, baselined, created, edited, ignored };
  };
  const NONE = { unchanged: 0, baselined: 0, created: 0, edited: 0, ignored: 0 };
  const logged = async (): Promise<ChangeEvent[]> => {
    const entries = await redis.redis.xrange(redis.keys.log('acme'), '-', '+');
    return entries.map(([, [, json = '']]) => JSON.parse(json) as ChangeEvent);
  };

  it('wide record: a record with 100,000 keys is read, and each change of it is one event', async () => {
    const { feed, people, warnings } = await open();
    for (let n = 2; n < 30; n += 1) people.push({ id: `p-${n}`, name: `person ${n}` });
    people.push({ id: 'p-1' });
    expect(await counts(feed)).toEqual({ ...NONE, seen: 29, baselined: 29 });
    for (const value of [(n: number) => n, (n: number) => n + 1, (n: number) => `text ${n}`]) {
      people[28] = {
        id: 'p-1',
        ...Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`key ${n}`, value(n)])),
      };
      expect(await counts(feed)).toEqual({ ...NONE, seen: 29, unchanged: 28, edited: 1 });
    }
    expect(await counts(feed)).toEqual({ ...NONE, seen: 29, unchanged: 29 });
    const told = await logged();
    const first = told[0]?.data.sequence ?? 0;
    expect(told.map(({ type, subject, data }) => [type, subject, data.sequence, data.changes.length])).toEqual(
      [0, 1, 2].map((more) => ['crm.person.updated', 'p-1', first + more, 100_000]),
    );
    // The schema of the list stays small, and one warning says why.
    const { fields } = await feed.lists.schema('people');
    expect(fields).toHaveLength(MOST_FIELDS);
    expect(warnings).toEqual([expect.stringMatching(/^too many field names/)]);
  });

  it('wide record: when 3,000 fields of all records change their value type, untracked ones are reported per record', async () => {
    const { feed, people } = await open();
    const keyed = (id: string, value: unknown): OtherRecord => ({
      id,
      ...Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`key ${n}`, value])),
    });
    for (let n = 0; n < 12; n += 1) people.push(keyed(`p-${n}`, 1));
    await counts(feed);
    for (let n = 0; n < 12; n += 1) people[n] = keyed(`p-${n}`, 'one');
    await counts(feed);
    const told = (await logged()).filter(({ type }) => type === 'crm.person.updated');
    expect(told.map(({ subject }) => subject).sort()).toEqual(people.map(({ id }) => id).sort());
  });
});
