/** An endpoint of the API: what it takes and gives as schemas, from which requests are checked and the OpenAPI document is made. */
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { ChangefeedError } from '../../errors.js';
import { withinTime } from '../../runtime/clock.js';
import type { Access, Caller } from '../http/access.js';
import { refuse } from '../http/refusal.js';
import type { Plain } from './answers.js';

interface Declared {
  method: 'GET' | 'POST' | 'DELETE';
  /** With `:name` for parameters. */
  path: string;
  summary: string;
  access: Access;
  /** Answered while Redis is away too. */
  offline?: true;
  query?: z.ZodObject;
  body?: z.ZodObject;
  answer: z.ZodType;
}

export interface Endpoint extends Declared {
  handle: (request: EndpointRequest) => Promise<unknown>;
}

interface EndpointRequest {
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
  caller: Caller | null;
}

type Given<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** Gives `handle` the types of what it takes and gives. */
export function endpoint<
  Answer extends z.ZodType,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodObject | undefined = undefined,
>(
  declared: Omit<Declared, 'query' | 'body' | 'answer'> & {
    answer: Answer;
    query?: Query;
    body?: Body;
    handle: (
      request: Omit<EndpointRequest, 'query' | 'body'> & { query: Given<Query>; body: Given<Body> },
    ) => Promise<Plain<z.output<Answer>>>;
  },
): Endpoint {
  return declared as unknown as Endpoint;
}

/** @param redisIsAway while it is, a request that needs Redis would wait until it is back */
export function registerEndpoint(app: FastifyInstance, declared: Endpoint, redisIsAway: () => boolean): void {
  const { method, path, access, offline = false, query, body, handle } = declared;
  app.route({
    method,
    url: path,
    config: { access },
    async handler(request, reply) {
      const given = {
        params: request.params as Record<string, string>,
        query: query === undefined ? undefined : read(query, request.query, 'the query'),
        body: body === undefined ? undefined : read(body, request.body ?? {}, 'the body'),
        caller: request.caller,
      };
      // An action must not be carried out later, when Redis is back.
      if (!offline && redisIsAway()) return await refuse(reply, REDIS_AWAY);
      const answering = handle(given).catch(asRefusal);
      const answer = await (offline ? answering : unlessAway(answering, redisIsAway));
      if (answer === 'away') return await refuse(reply, REDIS_AWAY);
      return await reply.header('cache-control', 'no-store').send(answer);
    },
  });
}

export const REDIS_AWAY = { status: 503, message: 'Redis is away. Everything goes on when it is back.' };
/** How often a request that is under way asks whether Redis is away. */
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

/** An answer that is no fault of the server. */
export class RefusedError extends Error {
  constructor(
    readonly statusCode: 400 | 404 | 409 | 429,
    message: string,
  ) {
    super(message);
  }
}

export function read<Schema extends z.ZodType>(schema: Schema, given: unknown, what: string): z.output<Schema> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new RefusedError(400, `${what}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not allowed'}`);
}

/** What a person asked for does not exist, or cannot be answered. */
function asRefusal(error: unknown): never {
  if (error instanceof ChangefeedError && error.code === 'CF_USAGE') throw new RefusedError(409, error.message);
  throw error;
}
