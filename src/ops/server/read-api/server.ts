/** The read API as an HTTP server. It does not know where records come from: a `Source` answers. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { messageOf } from '../../../kit/errors.js';
import { createApp, listening } from '../http/app.js';
import { documentRoutes } from '../http/openapi.js';
import type { Attempts } from '../http/limits.js';
import { receiveHints, type HintTargets } from '../hints.js';
import { systemClock, type Clock } from '../../../kit/clock.js';
import { silentLog, type Log } from '../../../kit/log.js';
import type { Layer, ReadRequest } from './answer.js';
import { describedBy, DOCUMENT } from './described.js';
import { SIX_LISTS, type ServedList } from './lists.js';
import { refusal, responder } from './respond.js';
import type { Sources } from './source.js';
import { writeAnswer } from './write-answer.js';

export interface ReadApiServerOptions {
  /** @defaultValue the six lists of the interface */
  lists?: readonly ServedList[];
  /** Served as well, but not in the OpenAPI document. @defaultValue none */
  undocumented?: readonly ServedList[];
  sources: Sources;
  /** True: the document has the extensions that the mirror serves. @defaultValue false */
  mirror?: boolean;
  /** Around every request with a good token, the first outermost. @defaultValue none */
  layers?: readonly Layer[];
  /** @defaultValue '127.0.0.1' */
  host?: string;
  /** 0 takes any free port. @defaultValue 0 */
  port?: number;
  /** Takes hints at `POST /hints/<workspace>`. @defaultValue no hints are taken */
  hints?: HintTargets;
  /** Limits wrong tokens, of the lists and of hints together. @defaultValue no limit */
  attempts?: Attempts;
  clock?: Clock;
  log?: Log;
}

export type ReadApiServer = ReturnType<typeof createReadApiServer>;

/** `respond` answers a request from the same process, without a socket. */
export function createReadApiServer(options: ReadApiServerOptions) {
  const { sources, layers = [], clock = systemClock, log = silentLog } = options;
  const { host = '127.0.0.1', port = 0, attempts } = options;
  const closing = new AbortController();
  const respond = responder({ sources, layers, attempts });
  const answer = async (request: ReadRequest, reply: FastifyReply): Promise<void> => {
    try {
      await writeAnswer(await respond(request), reply, clock, closing.signal);
    } catch (error) {
      if (closing.signal.aborted) return void reply.hijack().raw.destroy();
      log.error({ list: request.list, error: messageOf(error) }, 'request failed');
      await writeAnswer(refusal(500, { message: 'Internal Server Error' }), reply, clock, closing.signal);
    }
  };
  const app = buildApp({ ...options, log }, closing.signal, answer);
  // A stalled answer must not delay the stop.
  const beforeStop = (): void => closing.abort(new Error('the server is closing'));
  return { respond, ...listening(app, { host, port, beforeStop }) };
}

type Answering = (request: ReadRequest, reply: FastifyReply) => Promise<void>;

function buildApp(
  options: ReadApiServerOptions & { log: Log },
  signal: AbortSignal,
  answer: Answering,
): FastifyInstance {
  const { lists = Object.values(SIX_LISTS), undocumented = [], mirror = false, hints, attempts, log } = options;
  const app = createApp({ exposeHeadRoutes: false, routerOptions: { maxParamLength: 2_000 } });
  // The schemas of the routes only describe them: see `described.ts`.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  const handle =
    (list: string | null) =>
    (request: FastifyRequest, reply: FastifyReply): void => {
      void answer(readRequestOf(request, list, signal), reply);
    };
  // The interface has no request bodies: a body sent with another method is discarded.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(null);
  });
  app.setNotFoundHandler(handle(null));
  const others = app.supportedMethods.filter((method) => method !== 'GET');
  void app.register(async (scope) => {
    const names = z.registry<z.core.GlobalMeta>();
    await documentRoutes(scope, DOCUMENT, names);
    const described = describedBy(names, { mirror });
    const add = (url: string, list: string, schema: object = {}): void => {
      scope.get(url, { schema }, handle(list));
      scope.route({ method: others, url, handler: handle(list) });
    };
    for (const list of lists) {
      const { page, record } = described.list(list);
      add(`/${list.path}`, list.name, page);
      add(`/${list.path}/:id`, list.name, mirror ? record : {});
    }
    for (const { name, path } of undocumented) for (const url of [`/${path}`, `/${path}/:id`]) add(url, name);
    scope.get('/openapi.json', () => scope.swagger());
    if (hints !== undefined) receiveHints(scope, { targets: hints, attempts, log, schema: described.hints });
  });
  return app;
}

function readRequestOf(request: FastifyRequest, list: string | null, signal: AbortSignal): ReadRequest {
  const { headers, method, socket } = request;
  const id = (request.params as { id?: string } | undefined)?.id ?? null;
  return {
    method,
    list,
    id,
    parameters: parametersOf(request.query),
    authorization: headers.authorization,
    remoteAddress: socket.remoteAddress,
    contentType: headers['content-type'],
    ifNoneMatch: headers['if-none-match'],
    signal,
  };
}

/** The last value counts when a parameter is given twice. */
function parametersOf(query: unknown): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    parameters[name] = Array.isArray(value) ? (value.at(-1) ?? '') : value;
  }
  return parameters;
}
