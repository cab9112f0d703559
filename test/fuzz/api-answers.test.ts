/** An API that answers anything: nothing but a clear error, or what the page says. A list is complete again as soon as the API is. */
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createReadApi } from '../../src/feed/api/client.js';
import type { ReadApi } from '../../src/feed/api/read-api.js';
import { ChangefeedError } from '../../src/kit/errors.js';
import { systemClock } from '../../src/kit/clock.js';
import { TOKEN } from '../support/api-client.js';
import { startRawServer } from '../support/api-server.js';
import type { ListedApi } from '../support/listed.js';
import { customers } from '../support/records.js';
import { useRedis } from '../support/redis.js';
import { sweptList } from '../support/swept-list.js';
import { bent, jsonText, torn } from './hostile.js';
import { runs } from './runs.js';

const redis = useRedis();

const GOOD = customers(5, (index) => ({ 이름: `person ${index}`, 메모: '고객', 팀: [{ id: 't1', name: '1팀' }] }));
const PAGE = 2;

function goodBody(cursor: number): object {
  const more = cursor + PAGE < GOOD.length;
  return {
    success: true,
    data: { peopleList: GOOD.slice(cursor, cursor + PAGE), nextCursor: more ? String(cursor + PAGE) : null },
  };
}

const header = fc.oneof(
  fc.constantFrom(
    ...[
      'content-type: text/html',
      'content-encoding: gzip',
      'content-encoding: br',
      'retry-after: -1',
      'retry-after: 9e9',
    ],
    ...[
      'transfer-encoding: chunked',
      'content-length: 3',
      'content-length: -1',
      'content-length: 99999',
      'location: /v2/people',
    ],
    ...[
      'etag: "1"',
      'set-cookie: a=b',
      'content-type: application/json; charset=euc-kr',
      'connection: upgrade',
      'upgrade: h2c',
    ],
  ),
  fc.tuple(fc.string({ maxLength: 12 }), fc.string({ maxLength: 40 })).map(([name, value]) => `${name}: ${value}`),
);
const body = (cursor: number): fc.Arbitrary<Buffer> =>
  fc.oneof(
    { weight: 4, arbitrary: bent(goodBody(cursor)).map((value) => Buffer.from(JSON.stringify(value))) },
    { weight: 3, arbitrary: torn(JSON.stringify(goodBody(cursor))) },
    { weight: 2, arbitrary: jsonText.map((text) => Buffer.from(text)) },
    jsonText.map((text) =>
      Buffer.from(`{"success":true,"data":{"peopleList":[{"id":"p1","x":${text}}],"nextCursor":null}}`),
    ),
    fc.constant(gzipSync(JSON.stringify(goodBody(cursor)))),
  );
const status = fc.oneof(
  { weight: 4, arbitrary: fc.constant('200 OK') },
  fc.constantFrom(
    '204 Empty',
    '304 Same',
    '302 Found',
    '400 No',
    '401 Who',
    '403 No',
    '404 Not',
    '429 Slow',
    '500 Oh',
    '999 What',
    '100 Continue',
    'nothing',
  ),
);

/** For the page at which the answer is given. */
const answer = fc.record({ page: fc.nat(2) }).chain(({ page }) =>
  fc.record({
    cursor: fc.constant(page * PAGE),
    head: fc.tuple(status, fc.array(header, { maxLength: 3 })),
    sized: fc.boolean(),
    body: body(page * PAGE),
    closes: fc.boolean(),
  }),
);

it('fuzz: whatever the API answers, the error is a clear one, no token is in it, and the next sweep is complete and right', async () => {
  let hostile: { cursor: number; bytes: Buffer; closes: boolean } | null = null;
  const reply = (socket: Socket, request: string): void => {
    const cursor = Number(/[?&]cursor=(\d+)/.exec(request)?.[1] ?? 0);
    if (hostile?.cursor === cursor) {
      socket.write(hostile.bytes);
      if (hostile.closes) socket.end();
      // An answer without an end is a matter of the time limit, which other tests wait for.
      else socket.setTimeout(50, () => socket.destroy());
      return;
    }
    const text = Buffer.from(JSON.stringify(goodBody(cursor)));
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`);
    socket.write(text);
  };
  await using server = await startRawServer((socket, _connection, first) => {
    reply(socket, first);
    // A connection that is thought to be whole is used again.
    socket.on('data', (next) => reply(socket, String(next)));
  });
  const budget = { take: () => Promise.resolve(), pause: () => Promise.resolve() };
  let workspace = 0;
  await fc.assert(
    fc.asyncProperty(answer, async ({ cursor, head: [code, headers], sized, body: bytes, closes }) => {
      const api: ReadApi = createReadApi({
        ...{ workspace: 'acme', baseUrl: server.baseUrl, token: TOKEN, budget },
        // No wait between tries; the second one is for a connection that the last answer has spoilt.
        ...{ clock: { ...systemClock, sleep: () => Promise.resolve() }, attempts: 2, maxBytes: 1_000_000 },
      });
      try {
        const list = sweptList(redis, api as ListedApi, 'people', `w${(workspace += 1)}`);
        hostile = null;
        await list.sweep();
        const lines = [`HTTP/1.1 ${code}`, ...headers, ...(sized ? [`content-length: ${bytes.length}`] : [])];
        hostile = { cursor, bytes: Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]), closes };
        await list.sweep().catch((error: unknown) => expectClear(error));
        hostile = null;
        for (let sweep = 0; sweep < 3; sweep += 1) await list.sweep();
        const shown = new Map(GOOD.map((record) => [record.id, record as object]));
        for (const { type, subject, data } of await list.events())
          if (/^crm\.person\.(created|updated|deleted)$/.test(type)) shown.set(subject, data.after ?? {});
        for (const record of GOOD) expect(shown.get(record.id)).toEqual(record);
      } finally {
        await api.close();
      }
    }),
    runs(),
  );
});

function expectClear(error: unknown): void {
  expect(error).toBeInstanceOf(ChangefeedError);
  const { message, code, facts } = error as ChangefeedError;
  expect(code).not.toBe('CF_INTERNAL');
  expect(message.length).toBeLessThan(2_000);
  expect(`${message} ${JSON.stringify(facts)}`).not.toContain(TOKEN);
}
