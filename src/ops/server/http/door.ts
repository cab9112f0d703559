/**
 * The listener of a process. The app behind it may be closed and another one opened: the address stays, connections stay, and who asks in between is
 * told to ask again. Nothing of such a request is done, so it may be sent again as it is.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { systemClock } from '../../../kit/clock.js';
import type { ListenOptions } from './app.js';
import { SECURITY_HEADERS } from './browser-safety.js';

/** What the page recognises the answer by. */
const RESTARTING_HEADER = 'x-changefeed-restarting';

const RESTARTING = JSON.stringify({
  error: { status: 503, message: 'The configuration is being applied. Send the request again in a moment.' },
});

/** What is asked at the end may take so long; then its connection is closed. */
const FINISH_WITHIN_MS = 2_000;
const LOOK_MS = 20;

type Place = Pick<ListenOptions, 'host' | 'port' | 'orAnyPort'>;

export type Door = ReturnType<typeof createDoor>;

export function createDoor() {
  let open: { place: string; url: string; stop: () => Promise<void> } | undefined;
  let route: RequestListener = askAgain;
  let isProxy: (address: string) => boolean = () => false;
  const under = new Set<ServerResponse>();

  const openAt = async (place: Place): Promise<string> => {
    const named = JSON.stringify(place);
    if (open?.place === named) return open.url;
    // With Fastify, so that a process which serves nothing does not load it.
    const { createApp, listening } = await import('./app.js');
    const shell = createApp({ isProxy: (address) => isProxy(address) });
    shell.addHook('onRequest', (request, reply) => {
      reply.hijack();
      pass(request.raw, reply.raw);
      return Promise.resolve();
    });
    const listener = listening(shell, place);
    const before = open;
    // Another port on the same address, or the same port on another one.
    if (before !== undefined) await close();
    open = { place: named, url: await listener.start(), stop: () => listener.stop() };
    return open.url;
  };
  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    under.add(response);
    response.once('close', () => under.delete(response));
    route(request, response);
  };
  /** A stream has begun its answer, and never ends by itself. */
  const finished = async (): Promise<void> => {
    const untilMs = systemClock.monotonic() + FINISH_WITHIN_MS;
    const isAnswering = (): boolean => [...under].some(({ headersSent }) => !headersSent);
    while (isAnswering() && systemClock.monotonic() < untilMs) await systemClock.sleep(LOOK_MS);
  };
  const close = async (): Promise<void> => {
    const closing = open;
    open = undefined;
    await closing?.stop();
  };
  return {
    /** The app answers from now on. @returns the address without a slash at its end */
    async lead(app: FastifyInstance, place: Place, proxy: (address: string) => boolean): Promise<string> {
      await app.ready();
      isProxy = proxy;
      const url = await openAt(place);
      route = (request, response) => app.routing(request, response);
      return url;
    },
    /** Until another app answers, nothing is done. What the app before has been asked may finish. */
    async leave(app: FastifyInstance): Promise<void> {
      route = askAgain;
      await finished();
      const left = [...under];
      await app.close();
      for (const response of left) response.destroy();
    },
    close,
  };
}

function askAgain(request: IncomingMessage, response: ServerResponse): void {
  // An unread body would keep the connection from its next request.
  request.resume();
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  response
    .writeHead(503, { ...SECURITY_HEADERS, ...headers, 'retry-after': '1', [RESTARTING_HEADER]: '1' })
    .end(RESTARTING);
}
