import { describe, expect, it } from 'vitest';
import type { Changefeed } from '../../../src/actions/feed.js';
import { messageOf } from '../../../src/kit/errors.js';
import { isoTime } from '../../../src/kit/clock.js';
import { freePort } from '../../../src/redis/private/launch.js';
import type { ServedList } from '../../../src/ops/server/read-api/lists.js';
import { createSweepStore } from '../../../src/feed/store/sweep-store.js';
import { useChain } from '../../support/chain.js';
import { openFeed } from '../../support/feed.js';
import { walk, type Fields } from '../../support/read-api.js';
import { useRedis } from '../../support/redis.js';
import { readEverything } from '../../support/api-state.js';

const TOKEN = 'mirror-token-7305918264';
const HINT_TOKEN = 'hint-token-7305918264';
const DEAL: ServedList = { name: 'deal', path: 'v2/deal', key: 'dealList', object: 'deal' };

describe('the mirror', () => {
  const redis = useRedis();
  const chain = useChain();

  async function open(
    upstream: { url: string; token: string },
    prefix = redis.keys.prefix,
    lists: object = {},
    second?: { lists: object; token: string },
  ) {
    const port = await freePort();
    const budget = { requests: 10_000, perSeconds: 1 };
    const workspace = { name: 'acme', baseUrl: upstream.url, token: upstream.token, budget, lists };
    const raw = {
      workspaces:
        second === undefined ? [workspace] : [workspace, { ...workspace, name: 'second', lists: second.lists }],
      serve: {
        port,
        hintToken: second === undefined ? HINT_TOKEN : {},
        token: second === undefined ? TOKEN : { acme: TOKEN, second: second.token },
      },
      redis: { prefix },
    };
    const feed = await openFeed(redis, raw);
    await feed.start(['serve']);
    const url = `http://127.0.0.1:${port}`;
    const get = (path: string, token = TOKEN): Promise<Response> =>
      fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } });
    return { feed, get, address: { url, token: TOKEN } };
  }
  const sweep = async (feed: Changefeed): Promise<void> => {
    const sweeps = await feed.sweep();
    expect(sweeps.map(({ outcome }) => outcome)).toEqual(Array(6).fill('complete'));
  };
  const listed = async (answer: Response): Promise<{ records: Fields[]; nextCursor: string | null }> => {
    const { data } = (await answer.json()) as { data: { peopleList: Fields[]; nextCursor: string | null } };
    return { records: data.peopleList, nextCursor: data.nextCursor };
  };

  const refusal = async (answer: Response): Promise<unknown[]> => {
    const { success, message, reason } = (await answer.json()) as Record<string, unknown>;
    return [answer.status, answer.headers.get('retry-after'), success, message, reason];
  };

  it('mirror: the token for hints reads nothing, and that of the mirror gives no hints', async () => {
    const { get, feed, address } = await open(await chain());
    await sweep(feed);
    const hint = async (path: string, token?: string): Promise<number> => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const body = JSON.stringify({ list: 'people', ids: ['p1'] });
      return (await fetch(`${address.url}${path}`, { method: 'POST', headers, body })).status;
    };
    expect((await get('/v2/people')).status).toBe(200);
    expect((await get('/v2/people', HINT_TOKEN)).status).toBe(401);
    expect((await get(`/v2/people?token=${TOKEN}`, 'another-token-7305918264')).status).toBe(401);
    expect(await hint('/hints/acme', HINT_TOKEN)).toBe(202);
    expect(await hint(`/hints/acme?token=${HINT_TOKEN}`)).toBe(202);
    expect(await hint('/hints/acme', TOKEN)).toBe(401);
    expect(await hint(`/hints/acme?token=${TOKEN}`)).toBe(401);
  });

  it('mirror: sends retry-after only while a sweep runs that completes the list', async () => {
    const { get } = await open(await chain());
    expect(await refusal(await get('/v2/people'))).toEqual([
      503,
      null,
      false,
      'Service Unavailable',
      'The mirror has not seen the list "people" whole yet. No process is sweeping it at this moment. Start one with the role poll ("changefeed start"), or check "changefeed status".',
    ]);
    await createSweepStore(redis.redis, redis.keys, 'acme').acquire('people', 60_000);
    expect(await refusal(await get('/v2/people/some-id'))).toEqual([
      503,
      '10',
      false,
      'Service Unavailable',
      'The mirror has not seen the list "people" whole yet. Its first sweep is under way.',
    ]);
  });

  it('mirror: refuses a list that it never serves with the reason, and a client does not retry', async () => {
    const upstream = await chain();
    const near = await open(upstream, redis.keys.prefix, { memo: { enabled: false }, people_history: true });
    const swept = await near.feed.sweep();
    expect(swept.map(({ list }) => list)).not.toContain('memo');
    const asIs = 'Asking again does not help; change its configuration.';
    const disabled = `This mirror does not poll the list "memo" (lists.memo.enabled is false). ${asIs}`;
    expect(await refusal(await near.get('/v2/memo'))).toEqual([404, null, false, 'Not Found', disabled]);
    expect(await refusal(await near.get('/v2/memo/some-id'))).toEqual([404, null, false, 'Not Found', disabled]);
    const onlyKeys = `This mirror keeps only the keys of the list "people_history", not its rows. ${asIs}`;
    expect(await refusal(await near.get('/v2/people/history'))).toEqual([404, null, false, 'Not Found', onlyKeys]);
    expect((await near.get('/v2/people')).status).toBe(200);

    const far = await open(near.address, `${redis.keys.prefix}-far`);
    const [one] = await far.feed.sweep({ lists: ['memo'] });
    const error = one?.outcome === 'incomplete' ? messageOf(one.error) : '';
    expect(error).toContain('answered 404 ("Not Found: This mirror does not poll the list');
    expect(error).not.toContain('Given up after');
  });

  it('mirror: serves the same records as upstream, and reports how fresh they are', async () => {
    const upstream = await chain();
    const { feed, get, address } = await open(upstream);
    await sweep(feed);
    expect(await readEverything(address)).toEqual(await readEverything(upstream));
    const { headers } = await get('/v2/people');
    expect(Date.parse(headers.get('changefeed-complete-at') ?? '')).toBeGreaterThan(0);
    expect(Number(headers.get('age'))).toBeGreaterThanOrEqual(0);
    expect((await get('/v2/people', 'wrong-token')).status).toBe(401);
  });

  it('mirror: serves a further list of the configuration with the same records as upstream', async () => {
    const upstream = await chain({ sandbox: { lists: { deal: 120 } } });
    const { feed, get, address } = await open(upstream, redis.keys.prefix, { deal: { path: 'deal', key: 'dealList' } });
    await feed.sweep({ lists: ['deal'] });
    const records = await walk(address, DEAL);
    const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);
    expect(records.toSorted(byId)).toEqual((await walk(upstream, DEAL)).toSorted(byId));
    expect(records).toHaveLength(120);
    const one = await get(`/v2/deal/${records[0]?.id}`);
    expect(await one.json()).toEqual({ success: true, data: records[0] });
    const { paths } = (await (await get('/openapi.json')).json()) as { paths: Record<string, object> };
    expect(paths['/v2/deal/{id}']).toHaveProperty('get');
    expect(paths['/v2/deal']).toMatchObject({
      get: {
        parameters: expect.arrayContaining([
          expect.objectContaining({ name: 'content-type', in: 'header', required: true }),
          expect.objectContaining({ name: 'updated_since', in: 'query' }),
        ]) as object,
        responses: { 200: { headers: { etag: {} } }, 304: {}, 400: {} },
      },
    });
  });

  it('mirror: answers each workspace with the lists and keys of that workspace', async () => {
    const upstream = await chain({ sandbox: { lists: { deal: 3, product: 2 } } });
    const deal = { path: 'deal' };
    const second = { token: 'second-token-7305918264', lists: { deal: { ...deal, key: 'offers' } } };
    const lists = { deal, product: { path: 'product' } };
    const { feed, get } = await open(upstream, redis.keys.prefix, lists, second);
    await feed.sweep({ lists: ['deal'] });
    await feed.sweep({ lists: ['product'], workspace: 'acme' });
    const keys = async (path: string, token: string): Promise<string[]> => {
      const { data } = (await (await get(path, token)).json()) as { data: object };
      return Object.keys(data);
    };
    expect(await keys('/v2/deal', TOKEN)).toEqual(['dealList', 'nextCursor']);
    expect(await keys('/v2/deal', second.token)).toEqual(['offers', 'nextCursor']);
    expect(await keys('/v2/product', TOKEN)).toEqual(['productList', 'nextCursor']);
    expect(await refusal(await get('/v2/product', second.token))).toEqual([
      404,
      null,
      false,
      'Not Found',
      'This mirror has no list "product" for the workspace of this token. Asking again does not help; change its configuration.',
    ]);
  });

  it('mirror: a cursor stays valid while records are created and removed', async () => {
    const upstream = await chain({ sandbox: { people: 120 } });
    const { feed, get } = await open(upstream);
    await sweep(feed);
    const first = await listed(await get('/v2/people'));
    upstream.sandbox.life.createPerson();
    await sweep(feed);
    const second = await listed(await get(`/v2/people?cursor=${first.nextCursor}`));
    expect(first.records).toHaveLength(50);
    expect(second.records.map(({ id }) => id).filter((id) => first.records.some((one) => one.id === id))).toEqual([]);
  });

  it('mirror: offers ids, updated_since and single records as extensions', async () => {
    const upstream = await chain();
    const { feed, get } = await open(upstream);
    await sweep(feed);
    const { records } = await listed(await get('/v2/people'));
    const [one, other] = records as [Fields, Fields];
    const since = isoTime(Date.now());
    const edited = upstream.sandbox.life.editPerson();
    await sweep(feed);

    const byIds = await listed(await get(`/v2/people?ids=${one.id},unknown,${other.id}`));
    expect(byIds.records.map(({ id }) => id)).toEqual([one.id, other.id]);
    const recent = await listed(await get(`/v2/people?updated_since=${since}`));
    expect(recent.records.map(({ id }) => id)).toEqual([edited]);
    expect(await (await get(`/v2/people/${one.id}`)).json()).toMatchObject({ success: true, data: { id: one.id } });
    expect((await get('/v2/people/unknown')).status).toBe(404);
    expect((await get('/v2/people?updated_since=yesterday')).status).toBe(400);
  });
});
