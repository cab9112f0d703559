/** What a receiver's answer means for the event: delivered, try again (when?), or never again. Pure. */
import { ChangefeedError } from '../../errors.js';
import { formatDuration } from '../../runtime/duration.js';
import { PermanentError, RetryAfterError } from '../errors.js';

/** A receiver that asks for more than a day is mistaken or hostile: an event must not be parked for years. */
const LONGEST_WAIT_MS = 86_400_000;

export interface Answer {
  status: number;
  retryAfter: string | undefined;
  excerpt: string;
}

export interface AnswerContext {
  subscription: string;
  /** Host and path. */
  place: string;
  /** ms since the epoch. */
  now: number;
}

export function isAccepted(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The error to throw for an answer that does not accept the event. */
export function refusalError(
  { status, retryAfter, excerpt }: Answer,
  { subscription, place, now }: AnswerContext,
): Error {
  const start = `Webhook "${subscription}": ${place} answered ${status}`;
  const said = excerpt === '' ? '' : ` It said: ${excerpt}`;
  const refused = (message: string): ChangefeedError =>
    new ChangefeedError('CF_DELIVERY_REFUSED', { message, subscription, place, status });
  if (status === 410) {
    const message = `${start} (Gone): THE ENDPOINT NO LONGER EXISTS and says so for good. Its events become dead letters until the subscription is removed or given another URL.${said}`;
    return new PermanentError(message, { cause: refused(message) });
  }
  const waitMs = retryAfter === undefined ? undefined : readRetryAfter(retryAfter, now);
  if (waitMs !== undefined) {
    const message = `${start} and asks to be tried again in ${formatDuration(waitMs)}.${said}`;
    return new RetryAfterError(message, { retryAfter: waitMs, cause: refused(message) });
  }
  return refused(`${start}${hintOf(status)}.${said}`);
}

/** `Retry-After` as ms from now: seconds or an HTTP date; undefined when it is neither. */
export function readRetryAfter(value: string, now: number): number | undefined {
  const text = value.trim();
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : httpDate(text) - now;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), LONGEST_WAIT_MS);
}

function httpDate(text: string): number {
  // Date.parse takes much that is no date ("1.5", "a 1"); every HTTP date begins with the name of a day.
  return /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : Number.NaN;
}

function hintOf(status: number): string {
  if (status >= 300 && status < 400) return ': redirects are not followed; put the final URL into the subscription';
  if (status === 401 || status === 403)
    return ': the receiver does not accept the signature or the sender; compare the secrets';
  if (status === 413) return ': the event is too large for the receiver';
  return '';
}
