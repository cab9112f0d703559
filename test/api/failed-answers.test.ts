/** Each failed answer that was seen in the wild, from a real server, and what the client makes of it. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createClientUnderTest } from '../support/api-client.js';
import { startApiServer, type Reply } from '../support/api-server.js';
import { PEOPLE, failing, fetchFirst } from '../support/first-page.js';

/** A page in every other way. */
const NOT_UTF8 = Buffer.from('{"success":true,"data":{"peopleList":[{"id":"\xff"}]}}', 'latin1');

describe('an answer that no second try can better is an error at once', () => {
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
  ])('%s', async (_name, reply, code, facts) => {
    await using server = await startApiServer(() => reply);
    const client = createClientUnderTest(server);
    await expect(fetchFirst(client)).rejects.toThrow(failing(code, facts));
    expect(server.requests).toHaveLength(1);
  });

  it('and a 401 tells that a new token kills the old one', async () => {
    await using server = await startApiServer(() => ({ status: 401 }));
    await expect(fetchFirst(createClientUnderTest(server))).rejects.toThrow(/new token in the CRM kills the old one/);
  });

  it('and a redirect is not followed: the token stays here, and only the other host is named', async () => {
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
});

describe('an answer that may pass is asked for again', () => {
  it.each<[string, Reply, string, number]>([
    ['500', { status: 500, body: '<title>Oops</title>' }, 'CF_UNAVAILABLE', 8],
    [
      '502 with a packed body that is none',
      { status: 502, headers: { 'content-encoding': 'gzip' }, body: 'x' },
      'CF_UNAVAILABLE',
      8,
    ],
    ['429', { status: 429, body: { success: false, message: 'Too Many Requests' } }, 'CF_RATE_LIMITED', 8],
    ['408', { status: 408 }, 'CF_REQUEST_REFUSED', 3],
    ['200 with success: false', { body: { success: false, message: '오류' } }, 'CF_REQUEST_REFUSED', 3],
    ['200 as an HTML page', { body: '<!doctype html><title>점검</title>' }, 'CF_PAGE_MALFORMED', 4],
    ['200 with an empty body', { body: '' }, 'CF_PAGE_MALFORMED', 4],
    ['200 without the list', { body: { success: true, data: {} } }, 'CF_PAGE_MALFORMED', 4],
    ['200 with damaged JSON', { body: '{"success":true,"data":{"peopleList":[' }, 'CF_PAGE_MALFORMED', 4],
    ['200 that is not UTF-8', { body: NOT_UTF8 }, 'CF_PAGE_MALFORMED', 4],
    ['200 with a broken packing', { headers: { 'content-encoding': 'gzip' }, body: 'x' }, 'CF_PAGE_MALFORMED', 4],
    ['200 in an unknown packing', { headers: { 'content-encoding': 'toString' }, body: 'x' }, 'CF_PAGE_MALFORMED', 4],
  ])('%s, so often', async (_name, reply, code, attempts) => {
    await using server = await startApiServer(() => reply);
    const client = createClientUnderTest(server);
    await expect(fetchFirst(client)).rejects.toThrow(failing(code, { status: reply.status ?? 200, attempts }));
    expect(server.requests).toHaveLength(attempts);
    expect(client.waits).toHaveLength(attempts - 1);
  });

  it('and read when it has passed', async () => {
    await using server = await startApiServer((_, n) => (n === 0 ? { body: { success: false } } : PEOPLE));
    expect(await fetchFirst(createClientUnderTest(server))).toMatchObject({ records: [{ id: 'a' }] });
  });

  it('but a page larger than allowed says so', async () => {
    await using server = await startApiServer(() => ({
      headers: { 'content-length': '2000' },
      body: ' '.repeat(2_000),
    }));
    const client = createClientUnderTest({ ...server, maxBytes: 1_000 });
    await expect(fetchFirst(client)).rejects.toThrow(
      /list "people", page 1: the body of 2000 bytes is larger than the 1000 bytes allowed\. .*ask its operator for smaller pages, or set lists\.people\.enabled to false/,
    );
  });

  it('and so does a page that is larger only when unpacked', async () => {
    const body = gzipSync(' '.repeat(100_000));
    await using server = await startApiServer(() => ({ headers: { 'content-encoding': 'gzip' }, body }));
    const client = createClientUnderTest({ ...server, maxBytes: 1_000 });
    await expect(fetchFirst(client)).rejects.toThrow(/the body is larger than the 1000 bytes allowed.*smaller pages/);
  });
});

describe('a 429', () => {
  it.each<[string, Reply, number]>([
    ['names seconds in its header', { headers: { 'retry-after': '7' } }, 7_000],
    ['names a date in its header', { headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT' } }, 5_000],
    [
      'names seconds in its reason',
      { body: { success: false, message: 'Too Many Requests', reason: '8.316초 후 재시도해주세요.' } },
      8_516,
    ],
    ['names seconds in a list of reasons', { body: { success: false, reason: ['한도 초과', '3초 후'] } }, 3_200],
    ['names seconds in its message', { body: { success: false, message: '2.5초 후 재시도' } }, 2_700],
    ['names nothing', { body: { success: false, message: 'Too Many Requests' } }, 10_000],
    ['names an absurd time', { body: { success: false, reason: '99999999초 후' } }, 60_000],
  ])('that %s makes all processes wait and then asks again', async (_name, reply, ms) => {
    await using server = await startApiServer((_, n) => (n === 0 ? { status: 429, ...reply } : PEOPLE));
    const client = createClientUnderTest(server);
    await fetchFirst(client);
    expect(client.budget).toEqual(['take', `pause ${ms}`, 'take']);
    expect(client.waits).toEqual([ms]);
  });

  it('that comes again and again makes the wait grow', async () => {
    await using server = await startApiServer((_, n) => (n < 3 ? { status: 429 } : PEOPLE));
    const client = createClientUnderTest(server);
    await fetchFirst(client);
    expect(client.waits).toEqual([10_000, 20_000, 40_000]);
  });
});
