/** The client against real servers: what it sends, and how it begins and ends. */
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { createReadApi } from '../../../src/feed/api/client.js';
import { createClientUnderTest, TOKEN } from '../../support/api-client.js';
import { startApiServer } from '../../support/api-server.js';
import { FIRST, PEOPLE, fetchFirst } from '../../support/first-page.js';

it('request: has the token and the content type, and no cursor for the first page', async () => {
  await using server = await startApiServer(() => PEOPLE);
  const { api } = createClientUnderTest(server);
  expect(await api.fetchPage('people', FIRST)).toMatchObject({ records: [{ id: 'a' }], nextCursor: 'next' });
  expect(server.requests[0]).toMatchObject({
    method: 'GET',
    url: '/v2/people',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
  });
});

it('request: is sent below the path of the base URL, with the cursor unchanged', async () => {
  await using server = await startApiServer(() => PEOPLE);
  const { api } = createClientUnderTest({ baseUrl: `${server.baseUrl}/api/` });
  await api.fetchPage('people', { cursor: 'ä &=+/#%', page: 2 });
  const { pathname, searchParams } = new URL(server.requests[0]!.url!, server.baseUrl);
  expect([pathname, searchParams.get('cursor')]).toEqual(['/api/v2/people', 'ä &=+/#%']);
});

it('request: reads a compressed answer', async () => {
  const body = gzipSync(JSON.stringify(PEOPLE.body));
  await using server = await startApiServer(() => ({ headers: { 'content-encoding': 'gzip' }, body }));
  expect(await fetchFirst(createClientUnderTest(server))).toMatchObject({ records: [{ id: 'a' }] });
});

it('request: each try takes one request from the budget and is reported', async () => {
  await using server = await startApiServer((_, n) => (n < 2 ? { status: 503 } : PEOPLE));
  const client = createClientUnderTest(server);
  await fetchFirst(client);
  expect(client.budget).toEqual(['take', 'take', 'take']);
  expect(client.tried).toMatchObject([
    { list: 'people', attempt: 1, code: 'CF_UNAVAILABLE', status: 503 },
    { list: 'people', attempt: 2, code: 'CF_UNAVAILABLE', status: 503 },
    { list: 'people', attempt: 3, code: null, status: 200 },
  ]);
});

it('close: closes the connections, can be called twice, and later requests fail', async () => {
  await using server = await startApiServer(() => PEOPLE);
  const client = createClientUnderTest(server);
  await fetchFirst(client);
  await client.api.close();
  await client.api.close();
  await expect(fetchFirst(client)).rejects.toThrow(expect.objectContaining({ code: 'CF_INTERNAL' }) as Error);
});

it.each([
  ['crm.example', TOKEN],
  ['https://crm.example', ''],
])('client: the base URL %s with the token %j is an error when the client is created', (baseUrl, token) => {
  const budget = { take: () => Promise.resolve(), pause: () => Promise.resolve() };
  expect(() => createReadApi({ workspace: 'acme', baseUrl, token, budget })).toThrow(
    expect.objectContaining({ code: 'CF_CONFIG_INVALID' }) as Error,
  );
});
