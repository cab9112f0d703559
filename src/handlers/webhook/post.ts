/** Posts to one endpoint: paced, past the guard, the answer read as what it means for the event. */
import { request, type Dispatcher } from 'undici';
import { ChangefeedError } from '../../errors.js';
import { systemClock, type Clock } from '../../runtime/clock.js';
import { formatDuration } from '../../runtime/duration.js';
import type { HandlerContext } from '../handler.js';
import type { Allowances } from './address.js';
import { isAccepted, refusalError } from './answer.js';
import { readExcerpt } from './excerpt.js';
import { guardedAgent, systemResolve, type Resolve } from './guard.js';
import { Pacer, type Rate } from './rate.js';
import type { Message } from './message.js';

export interface EndpointWorld {
  clock: Clock;
  resolve: Resolve;
}

export interface Endpoint {
  /** Opens every message: `Webhook "ops"`. */
  who: string;
  subscription: string;
  url: URL;
  /** What messages and logs call the URL. */
  place: string;
  allowances: Allowances;
  rate?: Rate | undefined;
  timeoutMs: number;
  /** What a receiver might send back at us and no message may show. */
  hidden: readonly string[];
  /** By status: what a person can do about it. */
  hints: Readonly<Record<number, string>>;
}

export interface Post {
  /** Makes the message when its turn has come: `now` is the time it is sent. */
  send(encode: (now: number) => Message, context: Pick<HandlerContext, 'log' | 'signal'>): Promise<void>;
  close(): Promise<void>;
}

export function createPost(
  endpoint: Endpoint,
  { clock = systemClock, resolve = systemResolve }: Partial<EndpointWorld> = {},
): Post {
  const { allowances, timeoutMs } = endpoint;
  const agent = guardedAgent({ allowances, resolve, timeoutMs });
  const pacer = new Pacer(endpoint.rate);
  return {
    async send(encode, context) {
      const waitMs = pacer.take(clock.now());
      if (waitMs > 0) await clock.sleep(waitMs, context.signal);
      await deliver(encode(clock.now()), context, { endpoint, clock, agent });
    },
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
  const { statusCode: status, headers, body } = await post(message, signal, sender);
  log.debug({ place, status, ms: clock.now() - startedAt }, 'endpoint answered');
  if (isAccepted(status)) {
    // The event has arrived, whatever becomes of the rest; reading it on frees the connection for the next one.
    body.dump().catch(() => undefined);
    return;
  }
  const retryAfter = headers['retry-after'];
  const answer = {
    status,
    retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    excerpt: await readExcerpt(body, endpoint.hidden),
  };
  if (status === 410) log.error({ place, status }, 'endpoint is gone for good');
  throw refusalError(answer, { ...endpoint, now: clock.now() });
}

async function post(message: Message, signal: AbortSignal, sender: Sender): Promise<Dispatcher.ResponseData> {
  const { endpoint, agent } = sender;
  try {
    return await request(endpoint.url, {
      method: 'POST',
      headers: { 'user-agent': 'crm-changefeed', ...message.headers },
      body: message.body,
      dispatcher: agent,
      signal,
    });
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
  const message = `${start} ${failureOf(error as NodeJS.ErrnoException, timeoutMs)}. The event is tried again.`;
  return new ChangefeedError('CF_DELIVERY_REFUSED', { message, subscription, place, cause: error });
}

function failureOf({ code, name }: NodeJS.ErrnoException, timeoutMs: number): string {
  if (name === 'TimeoutError' || /TIMEOUT|TIMEDOUT/.test(String(code)))
    return `did not answer within ${formatDuration(timeoutMs)}`;
  if (name === 'AbortError') return 'was given up before it answered';
  return `could not be reached (${code ?? name})`;
}
