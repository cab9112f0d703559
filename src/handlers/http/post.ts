/** Posts to one endpoint through the guard, and turns the answer into success or the right error. */
import { addAbortSignal } from 'node:stream';
import { request, type Dispatcher } from 'undici';
import { ChangefeedError, messageOf } from '../../errors.js';
import { systemClock, type Clock } from '../../runtime/clock.js';
import { formatDuration } from '../../runtime/duration.js';
import type { HandlerContext, Pinged, Reach } from '../handler.js';
import type { Allowances } from './address.js';
import { isAccepted, refusalError, type EndpointAnswer } from './answer.js';
import { readExcerpt } from './excerpt.js';
import { keepLastTraceparent } from './traceparent.js';
import { connectTo, guardedAgent, systemResolve, type GuardOptions, type Resolve } from './guard.js';
import type { Message } from '../webhook/message.js';

/** The status says what happened. A body that takes longer is cut, with its connection: some servers send two bytes per second. */
const BODY_WITHIN_MS = 1_000;

export interface EndpointWorld {
  clock: Clock;
  resolve: Resolve;
}

export interface Endpoint {
  /** Start of every message: `Webhook "ops"`. */
  who: string;
  subscription: string;
  url: URL;
  /** The URL's name in messages and logs. */
  place: string;
  allowances: Allowances;
  timeoutMs: number;
  /** Secrets that a receiver might echo and that no message may show. */
  hidden: readonly string[];
  /** What to do, by status. */
  hints: Readonly<Record<number, string>>;
}

export interface Post {
  /** Encodes the message at the time it is sent, `now`. */
  send(encode: (now: number) => Message, context: Pick<HandlerContext, 'log' | 'signal'>): Promise<void>;
  /** Sends a message in the same way and returns the outcome instead of throwing. */
  probe(encode: (now: number) => Message, signal: AbortSignal): Promise<Probed>;
  /** Connects, TLS included, and sends nothing. */
  reach: Reach;
  close(): Promise<void>;
}

/** The outcome of one test message. */
export type Probed = Pick<Pinged, 'outcome' | 'status' | 'ms' | 'body' | 'problem'>;

export function createPost(
  endpoint: Endpoint,
  { clock = systemClock, resolve = systemResolve }: Partial<EndpointWorld> = {},
): Post {
  const { allowances, timeoutMs } = endpoint;
  const agent = guardedAgent({ allowances, resolve, timeoutMs });
  const sender = { endpoint, clock, agent };
  return {
    send: (encode, context) => deliver(encode(clock.now()), context, sender),
    probe: (encode, signal) => probe(encode(clock.now()), signal, sender),
    reach: () => reach({ endpoint, clock }, { allowances, resolve, timeoutMs }),
    close: () => agent.destroy(),
  };
}

interface Sender {
  endpoint: Endpoint;
  clock: Clock;
  agent: Dispatcher;
}

async function deliver(
  message: Message,
  { log, signal }: Pick<HandlerContext, 'log' | 'signal'>,
  sender: Sender,
): Promise<void> {
  const { clock, endpoint } = sender;
  const { place } = endpoint;
  const startedAt = clock.now();
  const response = await post(message, signal, sender);
  const { statusCode: status, body } = response;
  log.debug({ place, status, ms: clock.now() - startedAt }, 'endpoint answered');
  if (!isAccepted(status)) throw await refusal(response, sender);
  // The event has arrived. Reading the rest of the body frees the connection for the next request.
  body.dump().catch(() => undefined);
}

async function probe(message: Message, signal: AbortSignal, sender: Sender): Promise<Probed> {
  const { clock, endpoint } = sender;
  const startedAt = clock.now();
  // A delivery is bounded by the subscription's timeout; a test message needs its own.
  const within = AbortSignal.any([signal, AbortSignal.timeout(endpoint.timeoutMs)]);
  try {
    const response = await post(message, within, sender);
    const ms = clock.now() - startedAt;
    const { statusCode: status } = response;
    const answer = await readAnswer(response, sender);
    const base = { status, ms, body: answer.excerpt };
    if (isAccepted(status)) return { ...base, outcome: 'accepted', problem: null };
    const { message: problem } = refusalError({ ...answer, excerpt: '' }, { ...endpoint, now: clock.now() });
    return { ...base, outcome: 'refused', problem };
  } catch (error) {
    const ms = clock.now() - startedAt;
    return { outcome: 'unreachable', status: null, ms, body: '', problem: messageOf(error) };
  }
}

async function reach({ endpoint, clock }: Pick<Sender, 'endpoint' | 'clock'>, guard: GuardOptions): ReturnType<Reach> {
  const { subscription, place, url } = endpoint;
  const startedAt = clock.now();
  const problem = await connectTo(url, guard).then(
    () => null,
    (error: unknown) => messageOf(unreachable(error, endpoint)),
  );
  return { subscription, place, ms: clock.now() - startedAt, problem };
}

async function refusal(response: Dispatcher.ResponseData, sender: Sender): Promise<Error> {
  return refusalError(await readAnswer(response, sender), { ...sender.endpoint, now: sender.clock.now() });
}

async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { endpoint }: Sender,
): Promise<EndpointAnswer> {
  const retryAfter = headers['retry-after'];
  return {
    status: statusCode,
    retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    excerpt: await readExcerpt(body, endpoint.hidden),
  };
}

async function post(message: Message, signal: AbortSignal, sender: Sender): Promise<Dispatcher.ResponseData> {
  const { endpoint, agent } = sender;
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

function unreachable(error: unknown, { who, subscription, place, timeoutMs }: Endpoint): ChangefeedError {
  const start = `${who}: ${place}`;
  if (error instanceof ChangefeedError) {
    const message = `${start}: ${error.message}`;
    return new ChangefeedError(error.code, { ...error.facts, message, subscription, place });
  }
  const message = `${start} ${failureOf(error as NodeJS.ErrnoException, timeoutMs)}.`;
  return new ChangefeedError('CF_DELIVERY_REFUSED', { message, subscription, place, cause: error });
}

function failureOf({ code, name }: NodeJS.ErrnoException, timeoutMs: number): string {
  if (name === 'TimeoutError' || /TIMEOUT|TIMEDOUT/.test(String(code)))
    return `did not answer within ${formatDuration(timeoutMs)}`;
  if (name === 'AbortError') return 'was cancelled before it answered';
  return `could not be reached (${code ?? name})`;
}
