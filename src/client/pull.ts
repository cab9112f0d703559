/** The consumer's side of `handler: 'pull'`, for a program of its own: it needs neither Redis nor a configuration. */
import type { ChangeEvent } from '../events/types.js';
import { backoffMs, retryAfterMs } from '../kit/backoff.js';
import { isAborted, sleepUntilAborted, systemClock } from '../kit/clock.js';
import { parseDuration, type Duration } from '../kit/duration.js';
import { ChangefeedError, messageOf } from '../kit/errors.js';

/** Where a consumer asks, and for how much. */
export interface PullCall {
  /** The address of the status page: `http://feed.internal:4021`. */
  url: string;
  /** The option `token` of the subscription. */
  token: string;
  /** The name of the subscription. */
  consumer: string;
  /** At most so many events at once, 1 to 1,000. @defaultValue 100 */
  max?: number | undefined;
  /** How long one question waits for an event, at most `'60s'`. @defaultValue '20s' */
  wait?: Duration | undefined;
  /** Ends the loop without an error. What was given last is not acknowledged then. */
  signal?: AbortSignal | undefined;
}

/** Some events, in the order of the log. */
export interface Batch {
  events: readonly ChangeEvent[];
  /** More are there already. */
  more: boolean;
}

const RETRY = { delayMs: 500, maxDelayMs: 30_000 };
/** Beyond `wait`: then the answer is not coming. */
const PATIENCE_MS = 30_000;
const NEVER = new AbortController().signal;

interface Answer extends Batch {
  cursor: string | null;
}

/**
 * The events of a consumer, without end: `for await (const { events } of pull({ … }))`. A batch is acknowledged when the loop asks for the next one. After
 * `break`, an error or a crash in the loop it comes again once its `visibility` is over. Errors of the network and 408, 429 and 5xx are tried again
 * for as long as it takes.
 * @throws ChangefeedError `CF_CONSUMER_REFUSED` when the token or the question is refused (400, 401, 403, 404 …)
 */
export async function* pull(call: PullCall): AsyncGenerator<Batch, void, undefined> {
  const { signal = NEVER } = call;
  for (let cursor: string | null = null; !isAborted(signal);) {
    const answer: Answer | null = await ask(call, cursor, signal);
    if (answer === null) return;
    const { events, more } = answer;
    // An empty answer has acknowledged what came before it.
    cursor = answer.cursor;
    if (events.length > 0) yield { events, more };
  }
}

/** Null: aborted. */
async function ask(call: PullCall, cursor: string | null, signal: AbortSignal): Promise<Answer | null> {
  let acknowledged = cursor;
  for (let attempt = 1; ; attempt += 1) {
    const tried = await askOnce(call, acknowledged, signal).catch((error: unknown) => {
      if (error instanceof ChangefeedError) throw error;
      return { waitMs: null };
    });
    if ('events' in tried) return tried;
    if (isAborted(signal)) return null;
    // It was too late: the events are handed out again.
    if (tried === LATE) acknowledged = null;
    else await sleepUntilAborted(systemClock, tried.waitMs ?? backoffMs(attempt, RETRY, Math.random()), signal);
    if (isAborted(signal)) return null;
  }
}

const LATE = { waitMs: 0 };

/** @returns an answer, or how long to wait before the next attempt; null: as usual */
async function askOnce(
  { url, token, consumer, max = 100, wait = '20s' }: PullCall,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Answer | { waitMs: number | null }> {
  const query = new URLSearchParams({ max: String(max), wait, ...(cursor !== null && { ack: cursor }) });
  const address = `${url.replace(/\/+$/, '')}/api/consumers/${encodeURIComponent(consumer)}/next?${query.toString()}`;
  const timeout = AbortSignal.timeout((parseDuration(wait) ?? 0) + PATIENCE_MS);
  const response = await fetch(address, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    // A token is for this address only.
    redirect: 'manual',
    signal: AbortSignal.any([signal, timeout]),
  });
  const { status, headers } = response;
  if (status === 200) return answerIn(await response.json());
  if (status >= 500 || status === 429 || status === 408) {
    await response.body?.cancel();
    return { waitMs: retryAfterMs(headers.get('retry-after') ?? undefined, systemClock.now()) };
  }
  if (status === 409 && cursor !== null) {
    await response.body?.cancel();
    return LATE;
  }
  const message = `The consumer "${consumer}" was refused with ${status}: ${refusalIn(await response.text())}`;
  throw new ChangefeedError('CF_CONSUMER_REFUSED', { consumer, status, message });
}

function answerIn(json: unknown): Answer {
  const { events, cursor, more } = Object(json) as Partial<Answer>;
  // Of a proxy, maybe: it is asked again.
  if (!Array.isArray(events) || !(cursor === null || typeof cursor === 'string')) throw new TypeError('no answer');
  return { events: events as readonly ChangeEvent[], cursor, more: more === true };
}

function refusalIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    return typeof error?.message === 'string' ? error.message : 'without a reason.';
  } catch (error) {
    return `its answer cannot be read (${messageOf(error)}). Is this the address of the status page?`;
  }
}
