/** The same records in other bytes: nothing may be reported, and what is stored must be recognised the next time. */
import { expect, it } from 'vitest';
import { createReadApi } from '../../../src/feed/api/client.js';
import type { ReadApi } from '../../../src/feed/api/read-api.js';
import { startApiServer } from '../../support/api-server.js';
import { listedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';
import { sweptList } from '../../support/swept-list.js';

const redis = useRedis();
const budget = { take: () => Promise.resolve(), pause: () => Promise.resolve() };
const people = ['가', '나', '다'].map((name) => ({
  id: `p-${name}`,
  이름: `${name} "x"`,
  금액: 1.5,
  팀: [{ id: 't', name: '팀' }],
}));
const escaped = (text: string): string =>
  text.replace(/[가-힣]/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`).replaceAll('1.5', '15e-1');

it.each<[string, (text: string) => string]>([
  ['with spaces and line breaks', (text) => JSON.stringify(JSON.parse(text), null, 2)],
  ['with escapes and another form of numbers', escaped],
  ['with its keys in another order', (text) => text.replace(/("id":"p-[^"]*"),("이름":"[^,]*"),/gu, '$2,$1,')],
])('rewritten: a list %s than it was stored in is silent', async (_what, rewritten) => {
  let written = (text: string): string => text;
  await using server = await startApiServer(() => ({
    body: written(JSON.stringify({ success: true, data: { peopleList: people, nextCursor: null } })),
  }));
  const api: ReadApi = createReadApi({ workspace: 'acme', baseUrl: server.baseUrl, token: 't', budget });
  // A list made of records is digested as `JSON.stringify` writes them.
  const list = listedApi(people, 5);
  const { sweep, events } = sweptList(redis, list);
  await sweep();
  Object.assign(list, api);
  expect((await sweep()).counts).toMatchObject({ seen: 3, unchanged: 3 });
  written = rewritten;
  expect((await sweep()).counts).toMatchObject({ seen: 3, unchanged: 0, ignored: 3 });
  expect((await sweep()).counts).toMatchObject({ seen: 3, unchanged: 3 });
  expect(await events()).toEqual([]);
});
