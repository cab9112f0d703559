import { connect, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.js';
import { silentLog } from '../../../../src/kit/log.js';
import { createHttpServer } from '../../../../src/ops/server/http/server.js';
import type { EventViews } from '../../../../src/ops/server/page/event-view.js';
import { createLiveEvents } from '../../../../src/ops/server/page/live-events.js';
import type { PageSource } from '../../../../src/ops/server/page/source.js';
import { apiOf, beginApi } from '../../../../src/ops/server/page/api.js';
import { addStream } from '../../../../src/ops/server/page/stream.js';
import { eventually } from '../../../support/eventually.js';
import { TOKENS } from '../../../support/page-feed.js';
import { noAudit } from '../../../support/audit.js';

/** A log without events, whose end is known as soon as `answers` is. */
async function openStreams(answers: () => Promise<string> = () => Promise.resolve('0-0')) {
  let [away, asked] = [false, 0];
  const source = {
    redisIsAway: () => away,
    workspaces: () => [{ name: 'acme', timeZone: 'UTC', lists: [] }],
    log: { tail: () => ((asked += 1), answers()), query: noEvents, waitForMore: untilAborted },
  } as unknown as PageSource;
  const live = createLiveEvents(source, silentLog);
  const views: EventViews = () => Promise.reject(new Error('there are no events'));
  const server = createHttpServer({
    routes: [
      async (app) => {
        await beginApi(app, '1', () => source.redisIsAway());
        addStream(apiOf(app), { source, views, live, clock: systemClock });
      },
    ],
    access: { tokens: TOKENS },
    host: '127.0.0.1',
    port: 0,
    usualPort: 0,
    clock: systemClock,
    log: silentLog,
    audit: noAudit,
  });
  const url = await server.start();
  const stopping = new AbortController();
  onTestFinished(async () => {
    stopping.abort();
    await live.close();
    await server.stop();
  });
  const { port } = server.app.server.address() as AddressInfo;
  const connections = () =>
    new Promise<number>((resolve) => server.app.server.getConnections((_error, count) => resolve(count)));
  return {
    asked: () => asked,
    setAway: (next: boolean) => (away = next),
    connections,
    ask: (role: keyof typeof TOKENS = 'read', method = 'GET') =>
      fetch(`${url}/events`, {
        method,
        headers: { authorization: `Bearer ${TOKENS[role]}` },
        signal: stopping.signal,
      }),
    send(count: number) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(
        `GET /events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKENS.read}\r\n\r\n`.repeat(count),
      );
      return socket;
    },
  };
}

const noEvents = () => [];
const untilAborted = (_workspace: string, _after: string, _timeoutMs: number, signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve));

function promised<T>(): [Promise<T>, (value: T) => void] {
  let resolve: (value: T) => void = () => undefined;
  return [new Promise<T>((done) => (resolve = done)), (value) => resolve(value)];
}

describe('stream', () => {
  it.each([
    ['one request each', 210, 1],
    ['many requests each', 5, 42],
  ])('stream: connections that are cut while a stream begins hold no place (%s)', async (_, sockets, requests) => {
    const [known, resolve] = promised<string>();
    const streams = await openStreams(() => known);
    const open = Array.from({ length: sockets }, () => streams.send(requests));
    await eventually(() => expect(streams.asked()).toBe(sockets * requests));
    for (const socket of open) socket.destroy();
    await eventually(async () => expect(await streams.connections()).toBe(0));
    resolve('0-0');
    expect((await streams.ask()).status).toBe(200);
  });

  it('stream: while Redis is away none begins, also of those that were about to', async () => {
    const streams = await openStreams(() => new Promise(() => undefined));
    const begun = streams.ask();
    await eventually(() => expect(streams.asked()).toBe(1));
    streams.setAway(true);
    expect((await begun).status).toBe(503);
    expect((await streams.ask()).status).toBe(503);
  });

  it('stream: a caller has at most 50, and others still get in', async () => {
    const streams = await openStreams();
    const open = await Promise.all(Array.from({ length: 50 }, () => streams.ask()));
    expect((await streams.ask()).status).toBe(429);
    expect((await streams.ask('operate')).status).toBe(200);
    // The answers are looked at last: `fetch` closes the connection of one that the garbage collector took.
    expect(new Set(open.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('stream: a request for its head opens none', async () => {
    const streams = await openStreams();
    expect((await streams.ask('read', 'HEAD')).status).toBe(404);
  });
});
