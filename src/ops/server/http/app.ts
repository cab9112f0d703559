/** The Fastify instance of each server: clients that fall silent hold few connections for a limited time. */
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type RawServerDefault,
} from 'fastify';
import ipaddr from 'ipaddr.js';
import { networkOf } from './access.js';
import { createPlaces, type Places } from './limits.js';

/** A request must have arrived whole within this time. Answers, such as streams, may take longer. */
const REQUEST_MS = 30_000;
/** Whoever wants something sends its headers in one piece; a connection that sends nothing ends after this. */
const HEADERS_MS = 10_000;
const CHECK_MS = 5_000;
/** Routes load packages when they are added, which takes long on a busy machine. */
const READY_MS = 120_000;
/** Closes silent connections, such as of a client that does not read its answer. Streams are excepted. */
const SILENT_MS = 120_000;
/** Further connections are closed at once. Far more than readers and monitors of one process need. */
const MOST_CONNECTIONS = 1_000;
/** The rest is for this machine, so that its health checks get in whoever else has connected. */
const FROM_ELSEWHERE = { most: 900, mostOfOne: 100 };

export interface AppOptions extends FastifyHttpOptions<RawServerDefault> {
  /** Addresses that many people come from. @defaultValue none */
  isProxy?: (address: string) => boolean;
}

export function createApp({ isProxy = () => false, ...options }: AppOptions): FastifyInstance {
  const app = Fastify({
    http: { headersTimeout: HEADERS_MS, connectionsCheckingInterval: CHECK_MS },
    logger: false,
    forceCloseConnections: true,
    requestTimeout: REQUEST_MS,
    pluginTimeout: READY_MS,
    connectionTimeout: SILENT_MS,
    ...options,
  });
  app.server.maxConnections = MOST_CONNECTIONS;
  const places = createPlaces(FROM_ELSEWHERE);
  app.server.on('connection', (socket: Socket) => admit(socket, places, isProxy));
  return app;
}

/** Closes a connection beyond the share of its address. Exported for its test, which needs other addresses. */
export function admit(socket: Socket, places: Places, isProxy: (address: string) => boolean): void {
  const address = socket.remoteAddress ?? '';
  if (!ipaddr.isValid(address)) return void socket.destroy();
  if (ipaddr.process(address).range() === 'loopback') return;
  const leave = places.enter(
    networkOf(address),
    isProxy(address) ? { ...FROM_ELSEWHERE, mostOfOne: Infinity } : FROM_ELSEWHERE,
  );
  if (typeof leave === 'string') socket.destroy();
  else socket.once('close', leave);
}

export interface ListenOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Any free port where `port` is taken: a page must not keep the process from running. @defaultValue false */
  orAnyPort?: boolean;
  /** Before connections are closed. */
  beforeStop?: () => void;
}

export function listening(app: FastifyInstance, options: ListenOptions) {
  const { host, port, orAnyPort = false, beforeStop } = options;
  let started: Promise<string> | undefined;
  const listen = async (): Promise<string> => {
    try {
      return await app.listen({ host, port });
    } catch (error) {
      if (!orAnyPort || !isPortTaken(error)) throw error;
      return await app.listen({ host, port: 0 });
    }
  };
  return {
    /** Starts to listen, once. @returns the address without a slash at its end */
    start: (): Promise<string> => (started ??= listen().then(() => urlOf(app, host))),
    /** Also closes open connections and streams. */
    async stop(): Promise<void> {
      await started?.catch(() => undefined);
      beforeStop?.();
      await app.close();
    },
  };
}

function isPortTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

function urlOf(app: FastifyInstance, host: string): string {
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export interface Refusal {
  status: number;
  message: string;
}

export const TOO_MANY: Refusal = { status: 429, message: 'Too many wrong tokens. Wait a minute.' };

/** The answer of every refusal. */
export function refuse(reply: FastifyReply, { status, message }: Refusal): FastifyReply {
  return reply.code(status).header('cache-control', 'no-store').send({ error: { status, message } });
}
