import { expect, it } from 'vitest';
import { readPage } from '../../../src/feed/api/page.js';
import type { Page } from '../../../src/feed/api/read-api.js';
import { useRedis } from '../../support/redis.js';
import { baselined } from '../../support/swept-list.js';

const redis = useRedis();
const REMOVALS = { confirm: 2, afterMs: 0, maxShare: 1, maxCount: 0 };
const people = (edited = '') =>
  Array.from({ length: 10 }, (_, index) => ({ id: `p${index}`, 이름: edited === `p${index}` ? '고침' : 'a' }));

function pageOf(peopleList: readonly object[], nextCursor: string): Page {
  const body = Buffer.from(JSON.stringify({ success: true, data: { peopleList, nextCursor } }));
  const asked = { workspace: 'acme', host: 'crm.example', list: 'people', page: 1, now: 0, redact: String } as const;
  return readPage({ status: 200, body, bytes: body.length, headers: {}, askedAt: 0, ms: 0 }, asked);
}

it('ends: rows behind an empty page that names a cursor are read, and not reported as deleted', async () => {
  const { api, sweep, eventLines } = await baselined(redis, people(), { removals: REMOVALS });
  // The rows of the second page are filtered after paging: only they are gone.
  api.before = (cursor) => (cursor === '2' ? pageOf([], '4') : undefined);
  api.records = people('p7');
  for (let round = 0; round < 3; round += 1) await sweep({ removals: REMOVALS });
  expect((await eventLines()).map((line) => line.split(' ').slice(0, 2).join(' ')).sort()).toEqual([
    'deleted p2',
    'deleted p3',
    'updated p7',
  ]);
});

it('ends: a list whose cursors have no end says so, and deletes nothing', async () => {
  const { api, sweep, eventLines } = await baselined(redis, people(), { removals: REMOVALS });
  api.before = (cursor) => pageOf([{ id: cursor === null ? 'p0' : 'p1' }], `x${Number(cursor?.slice(1) ?? 0) + 1}`);
  await expect(sweep({ removals: REMOVALS, creations: { maxShare: 1, maxCount: 1_000_000 } })).rejects.toThrow(
    /the paging has no end.*disable the list/,
  );
  expect((await eventLines()).filter((line) => line.startsWith('deleted'))).toEqual([]);
});
