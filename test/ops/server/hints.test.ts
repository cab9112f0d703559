import { connect } from 'node:net';
import { onTestFinished, describe, expect, it } from 'vitest';
import { USUAL } from '../../../src/crm/lists/descriptor.js';
import { builtInLists, listsFrom } from '../../../src/crm/lists/lists.js';
import { systemClock } from '../../../src/kit/clock.js';
import { createAttempts } from '../../../src/ops/server/http/limits.js';
import { parseHint } from '../../../src/ops/server/hints.js';
import { createReadApiServer } from '../../../src/ops/server/read-api/server.js';
import { createAimQueue } from '../../../src/feed/list/aim-queue.js';
import { eventually } from '../../support/eventually.js';
import { useRedis } from '../../support/redis.js';

const deal = { ...USUAL, name: 'deal', path: 'v2/deal', key: null, object: 'deal' } as const;
const lists = listsFrom([...builtInLists.all.filter(({ name }) => name !== 'todo'), deal]);
const named = (body: unknown): object => {
  const hint = parseHint(typeof body === 'string' ? body : JSON.stringify(body), lists);
  return hint.outcome === 'named' ? Object.fromEntries(hint.lists.map((list) => [list, hint.ids])) : hint;
};

describe('hint: the body', () => {
  it('names a list and ids', () => {
    expect(named({ list: 'people', ids: ['a', 'b'] })).toEqual({ people: ['a', 'b'] });
    expect(named({ list: 'people/activity', ids: ['a'] })).toEqual({ activity: ['a'] });
  });

  it('may be that of the vendor, with the object in Korean or in English', () => {
    const vendor = { event: '수정', objectId: 'r1', fieldName: '이름', beforeField: 'x', afterField: 'y' };
    expect(named({ ...vendor, objectType: '고객' })).toEqual({ people: ['r1'] });
    expect(named({ ...vendor, objectType: '딜' })).toEqual({ deal: ['r1'] });
    expect(named({ ...vendor, objectType: 'organization' })).toEqual({ organization: ['r1'] });
  });

  it('may name nothing, as the request by which the vendor checks an address', () => {
    for (const body of [
      '',
      '  ',
      {},
      { objectType: '리드', objectId: 'l1' },
      { objectType: '고객' },
      { event: 'test' },
    ])
      expect(named(body)).toMatchObject({ outcome: 'nothing' });
  });

  it.each([
    ['not JSON', '{"list":', 400],
    ['a text', '"people"', 400],
    ['an array', [{ list: 'people', ids: ['a'] }], 400],
    ['an unknown list', { list: 'nope', ids: ['a'] }, 404],
    ['a list that is not polled', { list: 'todo', ids: ['a'] }, 404],
    ['a list that is a prototype', { list: '__proto__', ids: ['a'] }, 404],
    ['a list that is no text', { list: {}, ids: ['a'] }, 400],
    ['no ids', { list: 'people' }, 400],
    ['no list', { ids: ['a'] }, 400],
    ['empty ids', { list: 'people', ids: [] }, 400],
    ['ids that are no texts', { list: 'people', ids: ['a', 1] }, 400],
    ['a long id', { list: 'people', ids: ['x'.repeat(201)] }, 400],
    ['a long id of the vendor', { objectType: '고객', objectId: 'x'.repeat(201) }, 400],
    ['too many ids', { list: 'people', ids: Array.from({ length: 1_001 }, String) }, 400],
  ])('is refused when it is %s', (_what, body, status) => {
    const refusal = named(body);
    expect(refusal).toMatchObject({ outcome: 'refused', status });
    expect(JSON.stringify(refusal)).not.toContain('xxx');
  });
});

describe('hint: POST /hints/<workspace>', () => {
  const redis = useRedis();
  const TOKEN = 'hint-token-7305918264';

  async function serving(): Promise<{ url: string; queued: () => Promise<string[]> }> {
    const queue = createAimQueue({ redis: redis.redis, keys: redis.keys, workspace: 'acme' });
    let now = 0;
    const add = (list: string, ids: readonly string[]): Promise<void> => queue.add(list, ids, ++now);
    const hints = (token: string) => (token === TOKEN ? { workspace: 'acme', lists, add } : null);
    const server = createReadApiServer({ sources: () => null, hints, attempts: createAttempts(systemClock) });
    onTestFinished(() => server.stop());
    const url = await server.start();
    const queued = async (): Promise<string[]> =>
      (await redis.redis.zrevrange(redis.keys.aimed('acme', 'people'), 0, -1)).map((named) =>
        named.replace(/^named /, ''),
      );
    return { url, queued };
  }
  const post = async (
    url: string,
    body: string,
    headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` },
  ) => {
    const answer = await fetch(url, { method: 'POST', body, headers });
    return { status: answer.status, body: await answer.json() };
  };

  it('queues the named records, the last first', async () => {
    const { url, queued } = await serving();
    const hint = (ids: string[]): string => JSON.stringify({ list: 'people', ids });
    expect(await post(`${url}/hints/acme`, hint(['a', 'b']))).toEqual({
      status: 202,
      body: { success: true, data: { queued: 2 } },
    });
    await post(`${url}/hints/acme`, hint(['a']));
    expect(await queued()).toEqual(['a', 'b']);
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
    expect(paths).toHaveProperty(['/hints/{workspace}', 'post', 'operationId'], 'addHint');
  });

  it('is refused without the token of this workspace', async () => {
    const { url, queued } = await serving();
    const body = JSON.stringify({ list: 'people', ids: ['a'] });
    const unauthorised = { status: 401, body: { success: false, message: 'Unauthorized' } };
    expect(await post(`${url}/hints/acme`, body, {})).toEqual(unauthorised);
    expect(await post(`${url}/hints/acme?token=wrong&token=${TOKEN}`, body, {})).toEqual(unauthorised);
    expect(await post(`${url}/hints/other`, body)).toEqual(unauthorised);
    expect(await queued()).toEqual([]);
  });

  it('is refused with a reason when the body cannot be used, and queues nothing of it', async () => {
    const { url, queued } = await serving();
    expect(await post(`${url}/hints/acme`, '{"list":"nope","ids":["b"]}')).toMatchObject({
      status: 404,
      body: { success: false, reason: expect.stringContaining('people, organization') as unknown },
    });
    expect(await post(`${url}/hints/acme`, `"${'x'.repeat(66_000)}"`)).toMatchObject({ status: 413 });
    expect(await queued()).toEqual([]);
  });

  it('keeps a thousand records of a flood, the last ones, for an hour', async () => {
    const { url, queued } = await serving();
    const names = (from: number): string[] => Array.from({ length: 1_000 }, (_, n) => `r${from + n}`);
    for (let from = 0; from < 5_000; from += 1_000)
      await post(`${url}/hints/acme`, JSON.stringify({ list: 'people', ids: names(from) }));
    expect(new Set(await queued())).toEqual(new Set(names(4_000)));
    expect(await redis.redis.pttl(redis.keys.aimed('acme', 'people'))).toBeGreaterThan(3_500_000);
  });

  it('is refused before its body: a stranger cannot have one kept', async () => {
    const { url } = await serving();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.write(
      `POST /hints/acme?token=wrong-token-7305918264 HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n${'x'.repeat(30_000)}`,
    );
    await eventually(() => expect(received).toMatch(/^HTTP\/1\.1 401 /));
  });

  it('is refused with 429 after ten wrong tokens, those for the lists included, and with the right token it is taken', async () => {
    const { url } = await serving();
    const guess = async (count: number): Promise<number[]> => {
      const token = `guess-number-${count}-0000`;
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const read = await fetch(`${url}/v2/people`, { headers });
      return [read.status, (await post(`${url}/hints/acme?token=${token}`, '', {})).status];
    };
    for (let count = 0; count < 5; count += 1) expect(await guess(count)).toEqual([401, 401]);
    expect(await guess(5)).toEqual([429, 429]);
    expect((await post(`${url}/hints/acme?token=${TOKEN}`, '', {})).status).toBe(200);
  });
});
