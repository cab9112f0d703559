/** Connections that fail halfway, by servers on bare sockets. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { descriptorOf } from '../../../src/crm/lists/lists.js';
import { judgeApi } from '../../../src/ops/doctor/api.js';
import { readList } from '../../../src/ops/doctor/read-list.js';
import { createClientUnderTest } from '../../support/api-client.js';
import { startApiServer, startRawServer } from '../../support/api-server.js';
import { PEOPLE, failing, fetchFirst, shown } from '../../support/first-page.js';
import { selfSigned } from '../../support/self-signed.js';
import { wordsFor } from '../../../src/words/words.js';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const unavailable = (status: number | null) => failing('CF_UNAVAILABLE', { status, attempts: 2 });

it('connection: a refused connection is CF_UNAVAILABLE', async () => {
  const server = await startApiServer(() => PEOPLE);
  await server[Symbol.asyncDispose]();
  await expect(fetchFirst(createClientUnderTest({ ...server, attempts: 2 }))).rejects.toThrow(unavailable(null));
});

it('connection: the error of a certificate that is not accepted says what to do', async () => {
  const { cert, key } = selfSigned();
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }).listen(0);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const baseUrl = `https://localhost:${(server.address() as AddressInfo).port}`;
  const client = createClientUnderTest({ baseUrl, attempts: 1 });
  await expect(fetchFirst(client)).rejects.toThrow(/\(DEPTH_ZERO_SELF_SIGNED_CERT: .* set NODE_EXTRA_CA_CERTS/);
  const list = await readList(client.api, {
    list: descriptorOf('people'),
    pages: 1,
    signal: AbortSignal.timeout(9_000),
  });
  expect(judgeApi('acme', [list], wordsFor('en').t)[1]?.todo).toBe(
    'Set NODE_EXTRA_CA_CERTS for every process of the feed.',
  );
});

const CUT = '{"success":true,"data":{"peopleList":[';
const EMPTY = '{"success":true,"data":{"peopleList":[]}}';
const CHUNK = `${EMPTY.length.toString(16)}\r\n${EMPTY}\r\n`;
/** Single bytes without end. */
const drip = (socket: Socket): void => {
  if (socket.writable) socket.write('1\r\n \r\n', () => setImmediate(() => drip(socket)));
};

it.each<[string, (socket: Socket) => unknown, RegExp | Error, object?]>([
  ['closes without an answer', (socket) => socket.destroy(), unavailable(null)],
  // It is not a short page.
  ['closes within the body', (socket) => socket.end(`${HEAD}content-length: 500\r\n\r\n${CUT}`), unavailable(200)],
  [
    'closes within a chunked body that is valid JSON so far',
    (socket) => socket.end(`${HEAD}transfer-encoding: chunked\r\n\r\n${CHUNK}`),
    unavailable(200),
  ],
  [
    'closes within a body without a length',
    (socket) => socket.end(`${HEAD}connection: close\r\n\r\n${CUT}`),
    failing('CF_PAGE_MALFORMED'),
  ],
  [
    'closes within the body of a refusal',
    (socket) => socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 500\r\n\r\n{"succ'),
    failing('CF_UNAUTHORISED', { status: 401 }),
  ],
  ['stalls before the answer', () => undefined, /did not answer within 50 ms/, { timeoutMs: 50 }],
  // Long enough for the head of the answer to arrive on a busy machine.
  [
    'stalls within the body',
    (socket) => socket.write(`${HEAD}content-length: 500\r\n\r\n{`),
    unavailable(200),
    { timeoutMs: 1_000 },
  ],
  [
    'sends single bytes without end',
    (socket) => socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`, () => drip(socket)),
    unavailable(200),
    { timeoutMs: 1_000 },
  ],
])('connection: one that %s is an error that says so', async (_what, answer, expected, options) => {
  await using server = await startRawServer(answer);
  await expect(fetchFirst(createClientUnderTest({ ...server, attempts: 2, ...options }))).rejects.toThrow(expected);
});

it('connection: an answer that is not HTTP is CF_UNAVAILABLE, and its bytes are not in the error', async () => {
  await using server = await startRawServer((socket) => socket.end('SSH-2.0-secretive\r\n\r\n'));
  const error: unknown = await fetchFirst(createClientUnderTest({ ...server, attempts: 2 })).catch((e: unknown) => e);
  expect(error).toEqual(unavailable(null));
  expect(shown(error)).not.toContain('secretive');
});

it('connection: the next try succeeds after a failed one', async () => {
  const text = JSON.stringify(PEOPLE.body);
  await using server = await startRawServer((socket, n) => {
    if (n === 0) socket.destroy();
    else socket.end(`${HEAD}content-length: ${text.length}\r\n\r\n${text}`);
  });
  expect(await fetchFirst(createClientUnderTest(server))).toMatchObject({ records: [{ id: 'a' }] });
});
