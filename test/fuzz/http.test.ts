/** Strangers and their programs at our doors: the status page's API, and hints. No answer is a failure of ours, and none holds a token. */
import { connect } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { builtInLists } from '../../src/crm/lists/lists.js';
import { parseHint } from '../../src/ops/server/hints.js';
import { startPageFeed } from '../support/page-feed.js';
import { useRedis } from '../support/redis.js';
import { bent, jsonText, torn } from './hostile.js';
import { runs } from './runs.js';

const redis = useRedis();

const TOKEN = 'operate-token-of-this-test-7305918264';
const PATHS = [
  ...[
    '/',
    '/api/session',
    '/api/about',
    '/api/status',
    '/api/history',
    '/api/events',
    '/api/events/acme/1-1',
    '/events',
  ],
  ...['/api/subscriptions/all/pause', '/api/subscriptions/all/resume', '/api/dead-letters', '/api/dead-letters/retry'],
  ...[
    '/api/dead-letters/drop',
    '/api/todos',
    '/api/lists/acme/people/schema',
    '/metrics',
    '/readyz',
    '/healthz',
    '/openapi.json',
    '/login',
  ],
];
const word = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '-1',
    'now',
    'beginning',
    'acme',
    'acme@0-0',
    'acme@0',
    'acme@+',
    `acme@${'9'.repeat(15)}-${'9'.repeat(20)}`,
    '1-1',
    '__proto__',
    'true',
    '2026-13-45',
    '9'.repeat(400),
    '*'.repeat(200),
    '\u0000',
    '이름',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const QUERIES = [
  'from',
  'before',
  'limit',
  'workspace',
  'type',
  'field',
  'actor',
  'subject',
  'since',
  'follow',
  'view',
  'list',
  'group',
  'x',
];
const asked = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'),
  path: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...PATHS) },
    fc.array(word, { maxLength: 4 }).map((parts) => `/api/${parts.map((part) => encodeURIComponent(part)).join('/')}`),
    fc.constantFrom('/../../etc/passwd', '/%2e%2e/%00', '//other', '/api/events?', '/%'),
  ),
  query: fc.array(fc.tuple(fc.constantFrom(...QUERIES), word), { maxLength: 4 }),
  body: fc.oneof(
    jsonText,
    fc.constantFrom('', '{"reason":"x"}', '{"ids":["1"]}', '{"subscription":"all"}'),
    fc.string({ maxLength: 200 }),
  ),
  headers: fc.dictionary(
    fc.constantFrom(
      'accept',
      'last-event-id',
      'cookie',
      'x-forwarded-for',
      'if-none-match',
      'range',
      'x-changefeed-action',
      'sec-fetch-site',
      'origin',
    ),
    fc.constantFrom(
      '',
      '1',
      'text/event-stream',
      'bytes=0-',
      'cf=1; __proto__=2',
      'acme@1-1',
      'cross-site',
      'https://evil.example',
    ),
    { maxKeys: 3 },
  ),
  type: fc.constantFrom('application/json', 'text/plain', 'multipart/form-data', ''),
});

/** What these runs have found: positions that Redis refuses. */
const FOUND = ['acme@0', 'acme@0-0', `acme@1-${'9'.repeat(20)}`];
type Asked = typeof asked extends fc.Arbitrary<infer One> ? One : never;
const PLAIN = { method: 'GET' as const, path: '/api/events', body: '', headers: {}, type: '' as const };

it('fuzz: no request to the status page makes it fail, hang, or show a token', async () => {
  const page = await startPageFeed(redis, { http: { tokens: { operate: TOKEN } } });
  await fc.assert(
    fc.asyncProperty(asked, async ({ method, path, query, body, headers, type }) => {
      const search = new URLSearchParams(query);
      // An endless answer is cut after its head, and lines of JSON end by themselves.
      if (path === '/events') search.append('follow', 'false');
      const ended = new AbortController();
      const answer = await fetch(`${page.url}${path}${path.includes('?') ? '' : '?'}${search.toString()}`, {
        method,
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'x-changefeed-action': '1',
          ...(type !== '' && { 'content-type': type }),
          ...headers,
        },
        redirect: 'manual',
        signal: AbortSignal.any([ended.signal, AbortSignal.timeout(20_000)]),
        ...(method !== 'GET' && method !== 'HEAD' && { body: body }),
      });
      expect(answer.status, await textOf(answer)).toBeLessThan(500);
      ended.abort();
    }),
    { ...runs({ part: 4 }), examples: FOUND.map((before): [Asked] => [{ ...PLAIN, query: [['before', before]] }]) },
  );
  const session = await fetch(`${page.url}/api/session`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(session.status).toBe(200);
});

/** `readyz` says 503 while no list was read: that is its answer. */
async function textOf(answer: Response): Promise<string> {
  if (answer.headers.get('content-type')?.includes('event-stream') === true) return 'a stream';
  const text = await answer.text();
  expect(text).not.toContain(TOKEN);
  return text.slice(0, 300);
}

it('fuzz: bytes that are no request end the connection, and the page serves on', async () => {
  const page = await startPageFeed(redis);
  const { port } = new URL(page.url);
  const request = 'GET /api/session HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 4\r\n\r\n{"a"';
  await fc.assert(
    fc.asyncProperty(torn(request), async (bytes) => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.end(bytes);
      for await (const part of socket) expect(String(part)).not.toContain(' 500 ');
    }),
    runs({ part: 2 }),
  );
  expect((await fetch(`${page.url}/api/session`)).status).toBe(200);
});

const HINT = [
  { list: 'people', ids: ['a', 'b'] },
  { objectType: '고객', objectId: 'p1', event: '수정', fieldName: '이름', beforeField: 'x', afterField: 'y' },
];

it('fuzz: whatever a hint is, it names records of polled lists, nothing, or is refused', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.oneof(...HINT.map((one) => bent(one))).map((value) => JSON.stringify(value)),
        fc.oneof(...HINT.map((one) => torn(JSON.stringify(one)))).map((bytes) => bytes.toString()),
        jsonText,
      ),
      (text) => {
        const hint = parseHint(text, builtInLists);
        if (hint.outcome === 'refused') expect([400, 404]).toContain(hint.status);
        if (hint.outcome !== 'named') return;
        for (const list of hint.lists) expect(builtInLists.all.map(({ name }) => name)).toContain(list);
        for (const id of hint.ids) expect(id.length).toSatisfy((length: number) => length > 0 && length <= 200);
      },
    ),
    runs({ part: 20 }),
  );
});
