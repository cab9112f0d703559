/** Posts to one endpoint through the guard, and turns the answer into success or the right error. */
import { addAbortSignal } from 'node:stream';
import { request, type Dispatcher } from 'undici';
import { ChangefeedError, messageOf } from '../../errors.js';
import { systemClock, type Clock } from '../../runtime/clock.js';
import { formatDuration } from '../../runtime/duration.js';
import type { HandlerContext, Pinged, Reached } from '../handler.js';
import { readAnswer, refusalError, type EndpointAnswer, type Receiver } from './answer.js';
import { connectTo, guardedAgent, systemResolve, type Allowances, type Resolve } from './guard.js';
import { keepLastTraceparent } from './traceparent.js';
import type { Message } from '../webhook/message.js';

/** The status says what happened. A body that takes longer is cut, with its connection: some servers send two bytes per second. */
const BODY_WITHIN_MS = 1_000;

export interface EndpointWorld {
  clock: Clock;
  resolve: Resolve;
}

export interface Endpoint extends Receiver {
  url: URL;
  allowances: Allowances;
  /** In ms. */
  timeout: number;
  /** Secrets that a receiver might echo and that no message may show. */
  hidden: readonly string[];
}

export type Post = ReturnType<typeof createPost>;

/** Encodes a message at the time it is sent. */
type Encode = (now: number) => Message;

/** The outcome of one test message. */
export type Probed = Pick<Pinged, 'outcome' | 'status' | 'ms' | 'body' | 'problem'>;

export function createPost(
  endpoint: Endpoint,
  { clock = systemClock, resolve = systemResolve }: Partial<EndpointWorld> = {},
) {
  const { place, url, allowances, timeout: timeoutMs, hidden } = endpoint;
  const guard = { allowances, resolve, timeoutMs };
  const agent = guardedAgent(guard);
  const refusalOf = (answer: EndpointAnswer): Error => refusalError(answer, endpoint, clock.now());

  return {
    async send(encode: Encode, { log, signal }: Pick<HandlerContext, 'log' | 'signal'>): Promise<void> {
      const startedAt = clock.now();
      const response = await post(encode(startedAt), { endpoint, agent, signal });
      const { statusCode: status, body } = response;
      log.debug({ place, status, ms: clock.now() - startedAt }, 'endpoint answered');
      if (!isAccepted(status)) throw refusalOf(await readAnswer(response, hidden));
      // The event has arrived. Reading the rest of the body frees the connection for the next request.
      body.dump().catch(() => undefined);
    },

    /** Sends a message in the same way, and returns the outcome instead of throwing. */
    async probe(encode: Encode, given: AbortSignal): Promise<Probed> {
      const startedAt = clock.now();
      // A delivery is bounded by the subscription's timeout; a test message needs its own.
      const signal = AbortSignal.any([given, AbortSignal.timeout(timeoutMs)]);
      try {
        const response = await post(encode(startedAt), { endpoint, agent, signal });
        const ms = clock.now() - startedAt;
        const answer = await readAnswer(response, hidden);
        const about = { status: answer.status, ms, body: answer.excerpt };
        if (isAccepted(answer.status)) return { ...about, outcome: 'accepted', problem: null };
        return { ...about, outcome: 'refused', problem: refusalOf({ ...answer, excerpt: '' }).message };
      } catch (error) {
        const ms = clock.now() - startedAt;
        return { outcome: 'unreachable', status: null, ms, body: '', problem: messageOf(error) };
      }
    },

    /** Connects, TLS included, and sends nothing. */
    async reach(): Promise<Reached> {
      const problem = await connectTo(url, guard).then(
        () => null,
        (error: unknown) => messageOf(unreachable(error, endpoint)),
      );
      return { place, problem };
    },

    close: () => agent.destroy(),
  };
}

function isAccepted(status: number): boolean {
  return status >= 200 && status < 300;
}

async function post(
  message: Message,
  { endpoint, agent, signal }: { endpoint: Endpoint; agent: Dispatcher; signal: AbortSignal },
): Promise<Dispatcher.ResponseData> {
  if ('traceparent' in message.headers) keepLastTraceparent();
  try {
    const response = await request(endpoint.url, {
      method: 'POST',
      headers: { 'user-agent': 'crm-changefeed', ...message.headers },
      body: message.body,
      dispatcher: agent,
      signal,
    });
    addAbortSignal(
      AbortSignal.timeout(BODY_WITHIN_MS),
      response.body.on('error', () => undefined),
    );
    return response;
  } catch (error) {
    throw unreachable(error, endpoint);
  }
}

function unreachable(error: unknown, { who, subscription, place, timeout }: Endpoint): ChangefeedError {
  const start = `${who}: ${place}`;
  if (error instanceof ChangefeedError) {
    const message = `${start}: ${error.message}`;
    return new ChangefeedError(error.code, { ...error.facts, message, subscription, place });
  }
  const message = `${start} ${failureOf(error as NodeJS.ErrnoException, timeout)}.`;
  return new ChangefeedError('CF_DELIVERY_REFUSED', { message, subscription, place, cause: error });
}

function failureOf({ code, name }: NodeJS.ErrnoException, timeoutMs: number): string {
  if (name === 'TimeoutError' || /TIMEOUT|TIMEDOUT/.test(String(code)))
    return `did not answer within ${formatDuration(timeoutMs)}`;
  if (name === 'AbortError') return 'was cancelled before it answered';
  return `could not be reached (${code ?? name})`;
}
