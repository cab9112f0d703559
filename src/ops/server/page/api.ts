/** The frame of the API's routes: what each of them checks, answers and refuses in the same way. */
import type { FastifyInstance, FastifyTypeProvider } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ChangefeedError } from '../../../kit/errors.js';
import { withinTime } from '../../../kit/clock.js';
import { documentRoutes, json } from '../http/openapi.js';
import { refuse } from '../http/app.js';
import { nameOf } from '../http/access.js';
import { createTurns } from '../http/turns.js';
import { refusal, type Plain } from './answers.js';
import { RefusedError } from './refused.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered while Redis is away too. */
    offline?: true;
    /** It reads much of the log, or of the stored records: it takes a turn. */
    cost?: 'log' | 'records';
  }
}

interface ZodTypes extends FastifyTypeProvider {
  validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown;
  serializer: this['schema'] extends z.ZodType ? Plain<z.output<this['schema']>> : unknown;
}

export const apiOf = (app: FastifyInstance) => app.withTypeProvider<ZodTypes>();
export type Api = ReturnType<typeof apiOf>;

const REFUSALS = {
  '4xx': json('The request is not allowed, or what it asks for does not exist.', refusal),
  503: json('Redis is away.', refusal),
};
const NOTHING = z.strictObject({});
const ACTION = z.looseObject({ 'x-changefeed-action': z.string().describe('any value') });

/** What the document says of a route with this tag. `more`: the schemas of what it takes. */
export const described =
  (tag: string) =>
  <Answer extends z.ZodType, More extends object = object>(
    operationId: string,
    summary: string,
    answer: Answer,
    more?: More,
  ) => ({ tags: [tag], operationId, summary, response: { 200: answer }, ...(more as More) });

/** Two that compute at the same time leave a process time for its probes, and for what it delivers. */
const TURNS = { atOnce: 2, waiting: 40, waitingOfOne: 10 };
const RETRY_AFTER_S = 2;

export interface Asking {
  cost?: 'log' | 'records' | undefined;
  offline?: boolean | undefined;
  caller: string;
  /** Aborts when the caller no longer waits. */
  signal: AbortSignal;
}

/** Does work when it is its turn, and not while Redis is away: a request would wait until it is back, and an action be carried out then. */
export type Frame = <T>(asking: Asking, work: () => Promise<T>) => Promise<T | 'away' | 'no turn'>;

export function createFrame(redisIsAway: () => boolean): Frame {
  const turns = createTurns(TURNS);
  return async ({ cost, offline = false, caller, signal }, work) => {
    if (!offline && redisIsAway()) return 'away';
    const running = cost === undefined ? work() : turns.take(caller, signal, work);
    return await (offline ? running : unlessAway(running, redisIsAway));
  };
}

export const NO_TURN = 'Too many questions that read the log or the records wait already. Ask again soon.';

/** Every route that is added with tags is in the document, takes no unknown names, and has its refusals. */
export async function beginApi(app: FastifyInstance, version: string, redisIsAway: () => boolean): Promise<Frame> {
  const frame = createFrame(redisIsAway);
  app.setValidatorCompiler(validatorCompiler);
  // Answers are checked by the compiler and by tests. An odd state must not keep the status from a person who needs it.
  app.setSerializerCompiler(() => JSON.stringify);
  app.setSchemaErrorFormatter(([first], part) => {
    const path = first?.instancePath.slice(1).replaceAll('/', '.') ?? '';
    const what = part === 'querystring' ? 'the query' : `the ${part}`;
    return new RefusedError(400, `${what}: ${path === '' ? '' : `${path}: `}${first?.message ?? 'not allowed'}`);
  });
  app.addHook('preValidation', (request, _reply, done) => {
    request.body ??= {};
    done();
  });
  app.addHook('onRoute', (route) => {
    const { config: { access = 'read', offline = false, cost } = {}, handler, method, schema } = route;
    if (schema?.tags === undefined) return;
    const { 200: given } = schema.response as Record<string, unknown>;
    route.schema = {
      querystring: NOTHING,
      ...((method === 'POST' || method === 'PUT') && { body: NOTHING, headers: ACTION }),
      ...schema,
      response: { 200: given instanceof z.ZodType ? json('OK', given) : given, ...REFUSALS },
      'x-role': access,
    } as typeof schema;
    route.handler = async function (request, reply) {
      void reply.header('cache-control', 'no-store');
      const work = async (): Promise<unknown> => await handler.call(this, request, reply);
      const { signal } = request;
      const answer = await frame({ cost, offline, caller: nameOf(request), signal }, work).catch(asRefusal);
      if (answer === 'away') return await refuse(reply, REDIS_AWAY);
      if (answer !== 'no turn') return answer;
      void reply.header('retry-after', RETRY_AFTER_S);
      throw new RefusedError(429, NO_TURN);
    };
  });
  await documentRoutes(app, documentOf(version));
  app.get('/api/openapi.json', { config: { access: 'public' } }, () => app.swagger());
  return frame;
}

const documentOf = (version: string) => ({
  info: {
    title: 'Changefeed: status page',
    version,
    license: { name: 'MIT', identifier: 'MIT' },
    description: 'What the status page reads and does. Objects may get further properties.',
  },
  components: {
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer', description: 'http.tokens of the configuration' },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: 'changefeed_session_<port>',
        description: 'begins with POST /api/session',
      },
    },
  } as const,
  security: [{ token: [] }, { session: [] }, {}],
});

export const REDIS_AWAY = { status: 503, message: 'Redis is away. Everything goes on when it is back.' };
const AWAY_CHECK_MS = 500;

export async function unlessAway<T>(answering: Promise<T>, redisIsAway: () => boolean): Promise<T | 'away'> {
  for (;;) {
    const answer = await withinTime(answering, AWAY_CHECK_MS);
    if (answer !== 'late') return answer;
    if (!redisIsAway()) continue;
    answering.catch(() => undefined);
    return 'away';
  }
}

function asRefusal(error: unknown): never {
  if (error instanceof ChangefeedError && error.code === 'CF_USAGE') throw new RefusedError(409, error.message);
  throw error;
}
