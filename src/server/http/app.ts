/**
 * The Fastify instance of each server here: however many clients connect and fall silent, they hold a limited number of connections for a
 * limited time. It listens, gives its address, and stops in the same way whatever it serves.
 */
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';

/** A request must have arrived whole within this time. Node looks every 30 s. Answers, such as streams, may take longer. */
const REQUEST_MS = 30_000;
/** A connection on which nothing is sent or received is closed: a client that does not read its answer. Streams are excepted. */
const SILENT_MS = 120_000;
/** Further connections are closed at once. Far more than readers and monitors of one process need. */
const MOST_CONNECTIONS = 1_000;

export function createApp(options: FastifyServerOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    requestTimeout: REQUEST_MS,
    connectionTimeout: SILENT_MS,
    ...options,
  });
  app.server.maxConnections = MOST_CONNECTIONS;
  return app;
}

export type ListeningServer = ReturnType<typeof listening>;

export interface ListenOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Takes any free port where `port` is taken: what it serves must not keep the process from running. @defaultValue false */
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
