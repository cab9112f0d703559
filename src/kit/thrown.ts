/** What the code of a configuration throws. Never recognised by `instanceof`: a configuration may load its own copy of the package. */
import { parseDuration } from './duration.js';
import { ChangefeedError, describe } from './errors.js';

export interface RetryAfterOptions {
  /** How long to wait: a duration such as `'30s'`, or milliseconds. */
  retryAfter: string | number;
  cause?: unknown;
}

/**
 * Throw it in a handler to retry the event after the given wait instead of the subscription's own; the attempt counts. In `fetchPage` it is a 429: the
 * page is asked for again after the wait, and no other page of the workspace before.
 * @throws ChangefeedError `CF_CONFIG_INVALID` if `retryAfter` is not a duration.
 */
export class RetryAfterError extends Error {
  override readonly name = 'RetryAfterError';
  /** The wait, in ms. */
  readonly retryAfterMs: number;

  constructor(message: string, { retryAfter, cause }: RetryAfterOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.retryAfterMs = toWaitMs(retryAfter);
  }
}

/**
 * Throw it when a retry cannot succeed. In a handler the event becomes a dead letter at once; in `fetchPage` the sweep ends (`CF_REQUEST_REFUSED`), and
 * the next one starts at the first page.
 */
export class PermanentError extends Error {
  override readonly name = 'PermanentError';
}

/** Throw it in `fetchPage` when the CRM refuses the token: the workspace rests and says so (`changefeed.workspace.unauthorized`). */
export class UnauthorizedError extends Error {
  override readonly name = 'UnauthorizedError';
}

export function isPermanent(error: unknown): boolean {
  return nameOf(error) === 'PermanentError';
}

export function isUnauthorized(error: unknown): boolean {
  return nameOf(error) === 'UnauthorizedError';
}

/** The wait a `RetryAfterError` asks for, in ms; undefined for anything else. */
export function retryAfterMsOf(error: unknown): number | undefined {
  if (nameOf(error) !== 'RetryAfterError') return undefined;
  const { retryAfterMs } = error as { retryAfterMs?: unknown };
  return isWait(retryAfterMs) ? retryAfterMs : undefined;
}

export function nameOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? (error as { name?: unknown }).name : undefined;
}

export function classOf(thrown: unknown): string {
  const name = nameOf(thrown);
  if (typeof thrown !== 'object') return typeof thrown;
  return typeof name === 'string' && /^[A-Za-z_]\w{0,60}$/.test(name) ? name : 'Error';
}

/** `ECONNREFUSED`, a SQLSTATE: of the error, or of its cause, which `fetch` hides it in. "" for none. */
export function codeOfThrown(thrown: unknown): string {
  const { code, cause } = Object(thrown) as Record<string, unknown>;
  const { code: inner } = Object(cause) as Record<string, unknown>;
  return [code, inner].find((one): one is string => typeof one === 'string' && /^[A-Z0-9_]{3,40}$/.test(one)) ?? '';
}

function toWaitMs(retryAfter: unknown): number {
  const waitMs = typeof retryAfter === 'string' ? parseDuration(retryAfter) : retryAfter;
  if (isWait(waitMs)) return waitMs;
  throw new ChangefeedError('CF_CONFIG_INVALID', {
    message: `RetryAfterError: retryAfter is ${describe(retryAfter)}; allowed: a duration such as '30s', or milliseconds from 0 up.`,
  });
}

function isWait(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
