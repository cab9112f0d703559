/** Each failed answer that was seen in the wild, from a real server, and what the client makes of it. */
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { readyMadeLists } from '../../../src/crm/lists/lists.js';
import { createClientUnderTest } from '../../support/api-client.js';
import { startApiServer, type Reply } from '../../support/api-server.js';
import { FIRST, PEOPLE, failing, fetchFirst } from '../../support/first-page.js';

const NOT_UTF8 = Buffer.from('{"success":true,"data":{"peopleList":[{"id":"\xff"}]}}', 'latin1');

it.each<[string, Reply, string, object]>([
  [
    '401',
    { status: 401, body: { success: false, message: 'Unauthorized', reason: '유효하지 않은 토큰' } },
    'CF_UNAUTHORISED',
    { status: 401, words: 'Unauthorized: 유효하지 않은 토큰' },
  ],
  [
    '403 with the address that was refused',
    { status: 403, body: { success: false, message: 'Forbidden', reason: ['IP 203.0.113.9 is not allowed'] } },
    'CF_FORBIDDEN',
    { status: 403, words: 'Forbidden: IP 203.0.113.9 is not allowed' },
  ],
  ['400 with an empty body', { status: 400 }, 'CF_REQUEST_REFUSED', { status: 400, words: '' }],
  [
    '404 as an HTML page',
    { status: 404, body: '<html><title>Not Found</title><body>…</body></html>' },
    'CF_REQUEST_REFUSED',
    { status: 404, words: 'Not Found' },
  ],
  ['304', { status: 304 }, 'CF_REQUEST_REFUSED', { status: 304 }],
])('failed answer: %s is an error after one try', async (_name, reply, code, facts) => {
  await using server = await startApiServer(() => reply);
  const client = createClientUnderTest(server);
  await expect(fetchFirst(client)).rejects.toThrow(failing(code, facts));
  expect(server.requests).toHaveLength(1);
});

it('failed answer: a 401 explains that a new token makes the old one invalid', async () => {
  await using server = await startApiServer(() => ({ status: 401 }));
  await expect(fetchFirst(createClientUnderTest(server))).rejects.toThrow(/new token in the CRM kills the old one/);
});

it('failed answer: a redirect is not followed, and the error names only the other host', async () => {
  await using elsewhere = await startApiServer(() => PEOPLE);
  const location = `${elsewhere.baseUrl}/login?session=hidden`;
  await using server = await startApiServer(() => ({ status: 302, headers: { location } }));
  await expect(fetchFirst(createClientUnderTest(server))).rejects.toThrow(
    expect.objectContaining({
      code: 'CF_REQUEST_REFUSED',
      message: expect.stringMatching(new RegExp(`^(?!.*hidden).*pointed to ${elsewhere.host};`)) as string,
    }) as Error,
  );
  expect(elsewhere.requests).toHaveLength(0);
});

it.each<[string, Reply, string, number]>([
  ['500', { status: 500, body: '<title>Oops</title>' }, 'CF_UNAVAILABLE', 8],
  [
    '502 with a body that is not compressed as declared',
    { status: 502, headers: { 'content-encoding': 'gzip' }, body: 'x' },
    'CF_UNAVAILABLE',
    8,
  ],
  ['429', { status: 429, body: { success: false, message: 'Too Many Requests' } }, 'CF_RATE_LIMITED', 8],
  ['408', { status: 408 }, 'CF_REQUEST_REFUSED', 3],
  ['200 with success: false', { body: { success: false, message: '오류' } }, 'CF_REQUEST_REFUSED', 3],
  ['200 with damaged JSON', { body: '{"success":true,"data":{"peopleList":[' }, 'CF_PAGE_MALFORMED', 4],
  ['200 that is not UTF-8', { body: NOT_UTF8 }, 'CF_PAGE_MALFORMED', 4],
  ['200 with a broken compressed body', { headers: { 'content-encoding': 'gzip' }, body: 'x' }, 'CF_PAGE_MALFORMED', 4],
  [
    '200 with an unknown content encoding',
    { headers: { 'content-encoding': 'toString' }, body: 'x' },
    'CF_PAGE_MALFORMED',
    4,
  ],
])('failed answer: %s is repeated up to the limit of its kind', async (_name, reply, code, attempts) => {
  await using server = await startApiServer(() => reply);
  const client = createClientUnderTest(server);
  await expect(fetchFirst(client)).rejects.toThrow(failing(code, { status: reply.status ?? 200, attempts }));
  expect(server.requests).toHaveLength(attempts);
  expect(client.waits).toHaveLength(attempts - 1);
});

it('failed answer: a later good answer is read', async () => {
  await using server = await startApiServer((_, n) => (n === 0 ? { body: { success: false } } : PEOPLE));
  expect(await fetchFirst(createClientUnderTest(server))).toMatchObject({ records: [{ id: 'a' }] });
});

it.each([403, 404])(
  'failed answer: a %d about a list that not every workspace has says how to do without',
  async (status) => {
    await using server = await startApiServer(() => ({ status }));
    const { api } = createClientUnderTest({ ...server, lists: readyMadeLists.all });
    await expect(api.fetchPage('people_history', FIRST)).rejects.toThrow(/set lists\.people_history to false\.$/);
    await expect(fetchFirst(createClientUnderTest(server))).rejects.not.toThrow(/to false/);
  },
);

it('failed answer: a page over the size limit is reported as too large', async () => {
  await using server = await startApiServer(() => ({
    headers: { 'content-length': '2000' },
    body: ' '.repeat(2_000),
  }));
  const client = createClientUnderTest({ ...server, maxBytes: 1_000 });
  await expect(fetchFirst(client)).rejects.toThrow(
    /list "people", page 1: the body of 2000 bytes is larger than the 1000 bytes allowed\. .*ask its operator for smaller pages, or set lists\.people\.enabled to false/,
  );
});

it('failed answer: a page over the size limit after unpacking is reported as too large', async () => {
  const body = gzipSync(' '.repeat(100_000));
  await using server = await startApiServer(() => ({ headers: { 'content-encoding': 'gzip' }, body }));
  const client = createClientUnderTest({ ...server, maxBytes: 1_000 });
  await expect(fetchFirst(client)).rejects.toThrow(/the body is larger than the 1000 bytes allowed.*smaller pages/);
});

it.each<[string, Reply, number]>([
  ['names seconds in its header', { headers: { 'retry-after': '7' } }, 7_000],
  [
    'names seconds in its reason',
    { body: { success: false, message: 'Too Many Requests', reason: '8.316초 후 재시도해주세요.' } },
    8_516,
  ],
  ['names seconds in a list of reasons', { body: { success: false, reason: ['한도 초과', '3초 후'] } }, 3_200],
  ['names nothing', { body: { success: false, message: 'Too Many Requests' } }, 10_000],
])('rate limit: a 429 that %s pauses all processes and is repeated', async (_name, reply, ms) => {
  await using server = await startApiServer((_, n) => (n === 0 ? { status: 429, ...reply } : PEOPLE));
  const client = createClientUnderTest(server);
  await fetchFirst(client);
  expect(client.budget).toEqual(['take', `pause ${ms}`, 'take']);
  expect(client.waits).toEqual([ms]);
});

it('rate limit: repeated 429 answers make the wait longer', async () => {
  await using server = await startApiServer((_, n) => (n < 3 ? { status: 429 } : PEOPLE));
  const client = createClientUnderTest(server);
  await fetchFirst(client);
  expect(client.waits).toEqual([10_000, 20_000, 40_000]);
});
