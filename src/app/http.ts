/**
 * The HTTP server of this process. Whatever a process serves over HTTP is a set of routes in the list below; each is made of the questions
 * that a Changefeed answers.
 */
import type { Part } from '../runtime/lifecycle.js';
import { createHttpServer, type Routes } from '../server/http/server.js';
import type { AppContext } from './context.js';

/** Next to the port of the mirror. */
const USUAL_PORT = 4021;

export interface HttpPart extends Part {
  /** Where it listens; null before it has started, and where `http` is not enabled. */
  url(): string | null;
}

export interface HttpDeps {
  routes: readonly Routes[];
}

export function httpPart({ config: { http }, clock, log }: AppContext, { routes }: HttpDeps): HttpPart {
  if (!http.enabled)
    return { name: 'http', start: () => Promise.resolve(), stop: () => Promise.resolve(), url: () => null };
  const { host, port, tokens, trustedProxy } = http;
  const access = { tokens, trustedProxy };
  const server = createHttpServer({ routes, access, host, port, usualPort: USUAL_PORT, clock, log });
  let url: string | null = null;
  return {
    name: 'http',
    async start() {
      url = await server.start();
      log.info({ url }, 'the status page is served');
    },
    stop: () => server.stop(),
    url: () => url,
  };
}
