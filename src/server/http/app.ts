/**
 * The Fastify instance of each server here: however many clients connect and fall silent, they hold a limited number of connections for a
 * limited time.
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
