/** Posts to one endpoint through the guard. The answer decides: success, retry (when), or pause. */
import { addAbortSignal, type Readable } from 'node:stream';
import { request, type Dispatcher } from 'undici';
import { ChangefeedError, messageOf, reasonOfConnection } from '../../../kit/errors.js';
import { retryAfterMs } from '../../../kit/backoff.js';
import { systemClock, type Clock } from '../../../kit/clock.js';
import { formatDuration } from '../../../kit/duration.js';
import { printable, shorten } from '../../../kit/printable.js';
import { failureError, LONGEST_WAIT_MS, type DeliveryFailure } from '../failed-delivery.js';
import type { DigestContext, Reached } from '../handler.js';
import { connectTo, guardedAgent, systemResolve, type Allowances, type Resolve } from './guard.js';

/** The status says what happened. A slower body is cut with its connection: some servers send 2 bytes per s. */
const BODY_WITHIN_MS = 1_000;
/** The unit is characters. */
const EXCERPT_LENGTH = 200;
/** Enough for the excerpt and for a secret that begins within it. A receiver cannot make us read more. */
const READ_BYTES = 4_096;

export interface EndpointWorld {
  clock: Clock;
  resolve: Resolve;
}

export interface Message {
  headers: Record<string, string>;
  body: string;
}

interface Endpoint {
  /** Start of every message: `Webhook "ops"`. */
  who: string;
  subscription: string;
  place: string;
  url: URL;
  allowances: Allowances;
  /** In ms. */
  timeout: number;
  /** Secrets that a receiver might echo and that no message may show. */
  hidden: readonly string[];
  hints: Readonly<Record<number, string>>;
  /** The status that the body of an accepting answer names, where it is a refusal all the same. @defaultValue the status decides */
  refusedIn?: ((body: string) => number | null) | undefined;
}

interface Answer {
  status: number;
  retryAfter: string | string[] | undefined;
  excerpt: string;
}

type Encode = (now: number) => Message;

export function createPost(
  endpoint: Endpoint,
  { clock = systemClock, resolve = systemResolve }: Partial<EndpointWorld> = {},
) {
  const { place, url, allowances, timeout: timeoutMs } = endpoint;
  const guard = { allowances, resolve, timeoutMs };
  const agent = guardedAgent(guard);
  const refusalError = (answer: Answer): Error => {
    const now = clock.now();
    return failureError(refusalOf(answer, endpoint, now), { ...endpoint, now });
  };

  return {
    async send(encode: Encode, { log, signal }: Pick<DigestContext, 'log' | 'signal'>): Promise<{ status: number }> {
      const startedAt = clock.monotonic();
      const response = await post(encode(clock.now()), { endpoint, agent, signal });
      const { statusCode: status, body } = response;
      log.debug({ place, status, ms: clock.monotonic() - startedAt }, 'endpoint answered');
      if (!isAccepted(status) || endpoint.refusedIn !== undefined) {
        const answer = await readAnswer(response, endpoint);
        if (!isAccepted(answer.status)) throw refusalError(answer);
        return { status };
      }
      // The event has arrived. Reading the rest of the body frees the connection for the next request.
      body.dump().catch(() => undefined);
      return { status };
    },

    async probe(encode: Encode, given: AbortSignal) {
      const startedAt = clock.monotonic();
      // A delivery is bounded by the subscription's timeout; a test message needs its own.
      const signal = AbortSignal.any([given, AbortSignal.timeout(timeoutMs)]);
      try {
        const response = await post(encode(clock.now()), { endpoint, agent, signal });
        const ms = clock.monotonic() - startedAt;
        const answer = await readAnswer(response, endpoint);
        const about = { status: answer.status, ms, body: answer.excerpt };
        if (isAccepted(answer.status)) return { ...about, outcome: 'accepted', problem: null } as const;
        return { ...about, outcome: 'refused', problem: refusalError({ ...answer, excerpt: '' }).message } as const;
      } catch (error) {
        const ms = clock.monotonic() - startedAt;
        return { outcome: 'unreachable', status: null, ms, body: '', problem: messageOf(error) } as const;
      }
    },

    async reach(): Promise<Reached> {
      const failed = (error: unknown): string => unreachable(error, endpoint).message;
      return { place, problem: await connectTo(url, guard).then(() => null, failed) };
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

function failureOf(error: NodeJS.ErrnoException, timeoutMs: number): string {
  const { code, name } = error;
  if (name === 'TimeoutError' || /TIMEOUT|TIMEDOUT/.test(String(code)))
    return `did not answer within ${formatDuration(timeoutMs)}`;
  if (name === 'AbortError') return 'was cancelled before it answered';
  return `could not be reached (${reasonOfConnection(error)})`;
}

async function readAnswer(
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  { hidden, refusedIn }: Endpoint,
): Promise<Answer> {
  const text = await readStart(body);
  const meant = isAccepted(status) ? refusedIn?.(text) : null;
  return { status: meant ?? status, retryAfter: headers['retry-after'], excerpt: excerptOf(text, hidden) };
}

function refusalOf(
  { status, retryAfter, excerpt: said }: Answer,
  { place, hints }: Endpoint,
  now: number,
): DeliveryFailure {
  const start = `${place} answered ${status}`;
  const answered = { said, status, facts: { place } };
  if (status === 410) return { ...answered, then: 'pause', message: `${start} (Gone): the endpoint no longer exists.` };
  // It is as large at the next attempt.
  if (status === 413) {
    const remedy = 'raise its limit and retry the dead letter, or send less (transform, fields)';
    const message = `${start}: the event is too large for the receiver; ${remedy}.`;
    return { ...answered, then: 'dead', message };
  }
  const asked = retryAfterMs(typeof retryAfter === 'string' ? retryAfter : undefined, now);
  if (asked === null) return { ...answered, message: `${start}${hintOf(status, hints)}.` };
  const waitMs = Math.min(asked, LONGEST_WAIT_MS);
  const message = `${start} and asks to be tried again in ${formatDuration(waitMs)}.`;
  return { ...answered, retryAfter: waitMs, message };
}

function hintOf(status: number, hints: Readonly<Record<number, string>>): string {
  const hint = hints[status];
  if (hint !== undefined) return `: ${hint}`;
  const isRedirect = status >= 300 && status < 400;
  return isRedirect ? ': redirects are not followed; put the final URL into the subscription' : '';
}

/** The start of a body. Reads no more than needed; if the body breaks off, what arrived. */
async function readStart(body: Readable): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      parts.push(part);
      size += part.length;
      if (size >= READ_BYTES) break;
    }
  } catch {
    // The status is enough.
  }
  return Buffer.concat(parts).toString('utf8', 0, READ_BYTES);
}

/** In one short line. */
export function excerptOf(text: string, hidden: readonly string[]): string {
  const clean = hidden
    .filter((secret) => secret.length >= 4)
    .reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), printable(text).trim());
  return shorten(clean, EXCERPT_LENGTH);
}
