/** What a receiver's answer means for the event: delivered, retry (and when), or disable the subscription. Pure. */
import { ChangefeedError } from '../../errors.js';
import { formatDuration } from '../../runtime/duration.js';
import { DisableSubscriptionError, RetryAfterError } from '../errors.js';

/** A receiver that asks for more than a day is broken or hostile: an event must not wait for years. */
const LONGEST_WAIT_MS = 86_400_000;

export interface EndpointAnswer {
  status: number;
  retryAfter: string | undefined;
  excerpt: string;
}

export interface AnswerContext {
  /** Start of the message: `Webhook "ops"`. */
  who: string;
  subscription: string;
  place: string;
  /** What to do, by status. */
  hints: Readonly<Record<number, string>>;
  /** ms since the epoch. */
  now: number;
}

export function isAccepted(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The error to throw for an answer that does not accept the event. */
export function refusalError(
  { status, retryAfter, excerpt }: EndpointAnswer,
  { who, subscription, place, hints, now }: AnswerContext,
): Error {
  const start = `${who}: ${place} answered ${status}`;
  const said = excerpt === '' ? '' : ` It said: ${excerpt}`;
  const refused = (message: string): ChangefeedError =>
    new ChangefeedError('CF_DELIVERY_REFUSED', { message, subscription, place, status });
  if (status === 410) {
    const message = `${start} (Gone): the endpoint no longer exists.${said}`;
    return new DisableSubscriptionError(message, { cause: refused(message) });
  }
  const waitMs = retryAfter === undefined ? undefined : readRetryAfter(retryAfter, now);
  if (waitMs !== undefined) {
    const message = `${start} and asks to be tried again in ${formatDuration(waitMs)}.${said}`;
    return new RetryAfterError(message, { retryAfter: waitMs, cause: refused(message) });
  }
  return refused(`${start}${hintOf(status, hints)}.${said}`);
}

/** `Retry-After` as ms from now: seconds or an HTTP date; undefined if it is neither. */
export function readRetryAfter(value: string, now: number): number | undefined {
  const text = value.trim();
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : httpDate(text) - now;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), LONGEST_WAIT_MS);
}

function httpDate(text: string): number {
  // Date.parse accepts texts that are not dates ("1.5", "a 1"). Every HTTP date begins with the name of a day.
  return /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : Number.NaN;
}

function hintOf(status: number, hints: Readonly<Record<number, string>>): string {
  const hint = hints[status];
  if (hint !== undefined) return `: ${hint}`;
  if (status >= 300 && status < 400) return ': redirects are not followed; put the final URL into the subscription';
  return status === 413 ? ': the event is too large for the receiver' : '';
}
