/** What is read of a receiver's answer, and what it means for the event: retry (and when), or disable the subscription. */
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { ChangefeedError } from '../../errors.js';
import { retryAfterMs } from '../../runtime/backoff.js';
import { formatDuration } from '../../runtime/duration.js';
import { printable, shorten } from '../../runtime/printable.js';
import { DisableSubscriptionError, RetryAfterError } from '../errors.js';

/** A receiver that asks for more than a day is broken or hostile: an event must not wait for years. */
const LONGEST_WAIT_MS = 86_400_000;
/** In characters. */
const EXCERPT_LENGTH = 200;
/** Enough for the excerpt and for a secret that begins within it. A receiver cannot make us read more. */
const READ_BYTES = 4_096;

export interface EndpointAnswer {
  status: number;
  retryAfter: string | undefined;
  excerpt: string;
}

export interface Receiver {
  /** Start of every message: `Webhook "ops"`. */
  who: string;
  subscription: string;
  /** The URL's name in messages and logs. */
  place: string;
  /** What to do, by status. */
  hints: Readonly<Record<number, string>>;
}

/** @param hidden secrets that a receiver might echo and that no message may show */
export async function readAnswer(
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  hidden: readonly string[],
): Promise<EndpointAnswer> {
  const retryAfter = headers['retry-after'];
  const excerpt = await readExcerpt(body, hidden);
  return { status, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined, excerpt };
}

/** The error to throw for an answer that does not accept the event. */
export function refusalError(
  { status, retryAfter, excerpt }: EndpointAnswer,
  { who, subscription, place, hints }: Receiver,
  now: number,
): Error {
  const start = `${who}: ${place} answered ${status}`;
  const said = excerpt === '' ? '' : ` It said: ${excerpt}`;
  const refused = (message: string): ChangefeedError =>
    new ChangefeedError('CF_DELIVERY_REFUSED', { message, subscription, place, status });
  if (status === 410) {
    const message = `${start} (Gone): the endpoint no longer exists.${said}`;
    return new DisableSubscriptionError(message, { cause: refused(message) });
  }
  const asked = retryAfterMs(retryAfter, now);
  if (asked !== null) {
    const waitMs = Math.min(asked, LONGEST_WAIT_MS);
    const message = `${start} and asks to be tried again in ${formatDuration(waitMs)}.${said}`;
    return new RetryAfterError(message, { retryAfter: waitMs, cause: refused(message) });
  }
  return refused(`${start}${hintOf(status, hints)}.${said}`);
}

function hintOf(status: number, hints: Readonly<Record<number, string>>): string {
  const hint = hints[status];
  if (hint !== undefined) return `: ${hint}`;
  if (status >= 300 && status < 400) return ': redirects are not followed; put the final URL into the subscription';
  return status === 413 ? ': the event is too large for the receiver' : '';
}

/** The start of a body, in one short line. Reads no more than needed; if the body breaks off, what arrived. */
async function readExcerpt(body: Readable, hidden: readonly string[]): Promise<string> {
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
  return excerptOf(Buffer.concat(parts).toString('utf8', 0, READ_BYTES), hidden);
}

export function excerptOf(text: string, hidden: readonly string[]): string {
  const clean = hidden
    .filter((secret) => secret.length >= 4)
    .reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), printable(text).trim());
  return shorten(clean, EXCERPT_LENGTH);
}
