/** Connections that fail halfway, by servers on bare sockets. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
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
  const budget = { requests: 80, perSeconds: 10 };
  expect(judgeApi('acme', [list], budget, wordsFor('en').t)[1]?.todo).toBe(
    'Set NODE_EXTRA_CA_CERTS for every process of the feed.',
  );
});

it('connection: one that closes without an answer is CF_UNAVAILABLE', async () => {
  await using server = await startRawServer((socket) => socket.destroy());
  await expect(fetchFirst(createClientUnderTest({ ...server, attempts: 2 }))).rejects.toThrow(unavailable(null));
});

it('connection: one that closes within the body is CF_UNAVAILABLE and not a short page', async () => {
  await using server = await startRawServer((socket) => {
    socket.end(`${HEAD}content-length: 500\r\n\r\n{"success":true,"data":{"peopleList":[`);
  });
  await expect(fetchFirst(createClientUnderTest({ ...server, attempts: 2 }))).rejects.toThrow(unavailable(200));
});

it('connection: one that closes within a chunked body is CF_UNAVAILABLE even if the text so far is valid JSON', async () => {
  const text = '{"success":true,"data":{"peopleList":[]}}';
  await using server = await startRawServer((socket) => {
    socket.end(`${HEAD}transfer-encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n`);
  });
  await expect(fetchFirst(createClientUnderTest({ ...server, attempts: 2 }))).rejects.toThrow(unavailable(200));
});

it('connection: an incomplete body without a length is a malformed page', async () => {
  await using server = await startRawServer((socket) => {
    socket.end(`${HEAD}connection: close\r\n\r\n{"success":true,"data":{"peopleList":[`);
  });
  await expect(fetchFirst(createClientUnderTest(server))).rejects.toThrow(failing('CF_PAGE_MALFORMED'));
});

it('connection: an answer that is not HTTP is CF_UNAVAILABLE, and its bytes are not in the error', async () => {
  await using server = await startRawServer((socket) => socket.end('SSH-2.0-secretive\r\n\r\n'));
  const error: unknown = await fetchFirst(createClientUnderTest({ ...server, attempts: 2 })).catch((e: unknown) => e);
  expect(error).toEqual(unavailable(null));
  expect(shown(error)).not.toContain('secretive');
});

it('connection: one that stalls before the answer ends at the timeout', async () => {
  await using server = await startRawServer(() => undefined);
  const client = createClientUnderTest({ ...server, attempts: 2, timeoutMs: 50 });
  await expect(fetchFirst(client)).rejects.toThrow(/did not answer within 50 ms/);
});

it('connection: one that stalls within the body ends at the timeout', async () => {
  await using server = await startRawServer((socket) => void socket.write(`${HEAD}content-length: 500\r\n\r\n{`));
  // Long enough for the head of the answer to arrive on a busy machine.
  const client = createClientUnderTest({ ...server, attempts: 2, timeoutMs: 1_000 });
  await expect(fetchFirst(client)).rejects.toThrow(unavailable(200));
});

it('connection: one that sends single bytes without end stops at the timeout', async () => {
  await using server = await startRawServer((socket) => {
    socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
    const drip = (): unknown => socket.writable && socket.write('1\r\n \r\n', () => setImmediate(drip));
    drip();
  });
  const client = createClientUnderTest({ ...server, attempts: 2, timeoutMs: 1_000 });
  await expect(fetchFirst(client)).rejects.toThrow(unavailable(200));
});

it('connection: the next try succeeds after a failed one', async () => {
  const text = JSON.stringify(PEOPLE.body);
  await using server = await startRawServer((socket, n) => {
    if (n === 0) socket.destroy();
    else socket.end(`${HEAD}content-length: ${text.length}\r\n\r\n${text}`);
  });
  expect(await fetchFirst(createClientUnderTest(server))).toMatchObject({ records: [{ id: 'a' }] });
});

it('connection: a failed answer with an incomplete body still has its status', async () => {
  await using server = await startRawServer((socket) => {
    socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 500\r\n\r\n{"succ');
  });
  await expect(fetchFirst(createClientUnderTest(server))).rejects.toThrow(failing('CF_UNAUTHORISED', { status: 401 }));
});
