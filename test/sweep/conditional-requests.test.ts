import { describe, expect, it } from 'vitest';
import { createReadApi } from '../../src/api/client.js';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { jsonAnswer, type ReadRequest } from '../../src/server/read-api/answer.js';
import { digestOf, isNamed, withEtag } from '../../src/server/read-api/etag.js';
import { startApiServer } from '../support/api-server.js';
import type { ListedApi } from '../support/listed.js';
import { useRedis } from '../support/redis.js';
import { sweptList } from '../support/swept-list.js';

const PAGES = 5;
const SIZE = 4;

/** Serves five pages with an ETag. `lies`: the ETag covers the ids only, as soon as it is set. */
async function servedPages() {
  const names = new Map<string, string>();
  const counts = { requests: 0, conditional: 0, notModified: 0 };
  const state = { lies: false };
  const server = await startApiServer(({ url = '', headers }) => {
    const at = Number(new URL(url, 'http://x').searchParams.get('cursor') ?? 0);
    const records = Array.from({ length: SIZE }, (_, n): UncheckedRecord => {
      const id = `p${at}-${n}`;
      return { id, 이름: names.get(id) ?? id, 메모: 'x'.repeat(20) };
    });
    const data = { peopleList: records, nextCursor: at + 1 < PAGES ? String(at + 1) : null };
    const body = JSON.stringify({ success: true, data });
    const etag = `"${digestOf(state.lies ? `page ${at}` : body)}"`;
    const ifNoneMatch = headers['if-none-match'];
    counts.requests += 1;
    if (ifNoneMatch !== undefined) counts.conditional += 1;
    if (!isNamed({ ifNoneMatch }, etag)) return { headers: { etag }, body };
    counts.notModified += 1;
    return { status: 304, headers: { etag } };
  });
  const budget = { take: () => Promise.resolve(), pause: () => Promise.resolve() };
  const api = createReadApi({ workspace: 'acme', baseUrl: server.baseUrl, token: 't', budget });
  return { names, counts, state, api: api as ListedApi, server };
}

describe('conditional requests:', () => {
  const redis = useRedis();

  it('are used once enough changed pages had another ETag; every eighth sweep asks without', async () => {
    const { names, counts, api, server } = await servedPages();
    await using _ = server;
    const { sweep, eventLines } = sweptList(redis, api);
    const conditional: number[] = [];
    for (let round = 0; round < 32; round += 1) {
      names.set(`p${round % PAGES}-1`, `name ${round}`);
      const before = counts.conditional;
      await sweep();
      conditional.push(counts.conditional - before);
    }
    // The twentieth change is on the first page of sweep 21.
    expect(conditional.map((count, round) => (count > 0 ? round + 1 : 0)).filter(Boolean)).toEqual([
      21, 22, 23, 25, 26, 27, 28, 29, 30, 31,
    ]);
    expect(counts.notModified).toBe(10 * (PAGES - 1));
    // The first sweep is the baseline.
    expect(await eventLines()).toHaveLength(31);
    await api.close();
  });

  it('are dropped when an ETag stays although its page changes; a change that it hid is found by the next audit', async () => {
    const { names, counts, state, api, server } = await servedPages();
    await using _ = server;
    const { sweep, eventLines } = sweptList(redis, api);
    for (let round = 0; round < 24; round += 1) {
      names.set(`p${round % PAGES}-1`, `name ${round}`);
      await sweep();
    }
    const before = (await eventLines()).length;
    state.lies = true;
    // The first sweep reads every page under its new ETag, which is one of ids from now on.
    await sweep();
    names.set('p3-2', 'hidden');
    for (let round = 0; round < 6; round += 1) await sweep();
    expect(await eventLines()).toHaveLength(before);
    await sweep();
    expect((await eventLines()).slice(before)).toEqual(['updated p3-2 1']);
    const asked = counts.conditional;
    names.set('p2-0', 'seen at once');
    await sweep();
    expect((await eventLines()).slice(before)).toEqual(['updated p3-2 1', 'updated p2-0 1']);
    expect(counts.conditional).toBe(asked);
    await api.close();
  });

  it('are never used with a server whose ETag covers only a part of the page from the beginning', async () => {
    const { names, counts, state, api, server } = await servedPages();
    await using _ = server;
    state.lies = true;
    const { sweep, eventLines } = sweptList(redis, api);
    for (let round = 0; round < 30; round += 1) {
      names.set(`p${round % PAGES}-1`, `name ${round}`);
      await sweep();
    }
    expect([await eventLines(), counts.conditional]).toEqual([expect.objectContaining({ length: 29 }), 0]);
    await api.close();
  });
});

describe('the read API server', () => {
  const request = { method: 'GET', path: '/v2/people', list: 'people', id: null } as unknown as ReadRequest;
  const answer = withEtag(({ path }) => Promise.resolve(jsonAnswer(200, Buffer.from(path))));

  it('answers 304 to the ETag that it gave, and 200 once the answer is another one', async () => {
    const { etag = '' } = (await answer(request)).headers;
    expect(await answer({ ...request, ifNoneMatch: `"other", ${etag}` })).toMatchObject({
      status: 304,
      body: Buffer.alloc(0),
      headers: { etag },
    });
    expect(await answer({ ...request, path: '/v2/other', ifNoneMatch: etag })).toMatchObject({ status: 200 });
  });
});
