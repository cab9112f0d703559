/** Arguments for handlers, and receivers for what they send. */
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import type { ChangefeedError } from '../../src/kit/errors.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { HandlerContext } from '../../src/delivery/handlers/handler.js';
import type { Resolve } from '../../src/delivery/handlers/http/guard.js';
import { SERVICES } from '../../src/delivery/handlers/message/services.js';
import { silentLog } from '../../src/kit/log.js';
import { changeEvent } from './events.js';

export function sampleEvent(subject = '0198f0aa-1c00-7a10-8f01-00000000a001'): ChangeEvent {
  return changeEvent({
    record: subject,
    sequence: 2,
    data: {
      before: { id: subject, 이름: '가상인', '딜 개수': 1 },
      after: { id: subject, 이름: '가상인 "둘" 100%\n', '딜 개수': 2 },
      changes: [{ field: '딜 개수', before: 1, after: 2 }],
      observedAt: '2026-03-02T04:10:05.000Z',
    },
  });
}

/** For whom a message is written: in English, in Seoul, in Slack. */
export function chatReader(service: keyof typeof SERVICES = 'slack', language: 'ko' | 'en' = 'en') {
  return { service: SERVICES[service], language, timeZone: 'Asia/Seoul' };
}

export function handlerContext(overrides: Partial<HandlerContext> = {}): HandlerContext {
  const base = {
    log: silentLog,
    signal: new AbortController().signal,
    attempt: 1,
    subscription: 'ops',
    workspace: { name: 'acme', data: {} },
    list: null,
    replay: false,
    language: 'en' as const,
    timeZone: 'Asia/Seoul',
    people: {},
    records: { get: () => Promise.resolve(null) },
    pageOf: () => null,
    once: async (_key: string, effect: () => unknown) => {
      await effect();
      return 'ran' as const;
    },
  };
  return { ...base, ...overrides };
}

export async function failureOf(delivery: Promise<unknown>): Promise<ChangefeedError> {
  const error: unknown = await delivery.then(
    () => new Error('expected the delivery to fail'),
    (reason: unknown) => reason,
  );
  return error as ChangefeedError;
}

/** A resolver that answers with the next of these lists of addresses each time; the last one stays. */
export function resolving(...rounds: string[][]): Resolve & { asked: () => number } {
  let asked = 0;
  const resolve: Resolve = () => {
    const round = rounds[Math.min(asked, rounds.length - 1)] ?? [];
    asked += 1;
    return Promise.resolve(round.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
  };
  return Object.assign(resolve, { asked: () => asked });
}

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  readonly connections: () => number;
}

/** Returns a function that starts receivers on port 0; they are closed after each test. A reply of 'silence' leaves the request unanswered. */
export function useReceivers(): (reply?: (request: Received) => Reply | 'silence', host?: string) => Promise<Receiver> {
  const servers = new Set<Server>();
  afterEach(async () => {
    await Promise.all([...servers].map((server) => closeServer(server)));
    servers.clear();
  });
  return async (reply = () => ({}), host = '127.0.0.1') => {
    const received: Received[] = [];
    const server = createServer(answering(received, reply));
    let connections = 0;
    server.on('connection', () => (connections += 1));
    servers.add(server);
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, port, received, connections: () => connections };
  };
}

function answering(received: Received[], reply: (request: Received) => Reply | 'silence'): RequestListener {
  return (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('utf8');
      const one = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
      received.push(one);
      const answer = reply(one);
      if (answer === 'silence') return;
      response.writeHead(answer.status ?? 204, answer.headers).end(answer.body);
    });
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
