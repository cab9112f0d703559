/**
 * What a handler throws decides how the event is retried. These errors are recognised by `name` and fields, never by `instanceof`:
 * a configuration file may load its own copy of this package.
 */
import { ChangefeedError, describe } from '../errors.js';
import { parseDuration } from '../runtime/duration.js';

export interface RetryAfterOptions {
  /** How long to wait: a duration such as `'30s'`, or milliseconds. */
  retryAfter: string | number;
  cause?: unknown;
}

/**
 * Throw it to retry the event after the given wait instead of the subscription's own. The attempt counts.
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

/** Throw it when a retry cannot succeed: the event becomes a dead letter at once. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError';
}

/**
 * Throw it from `handleBatch` when only some of the events failed: each by its id, with its own error (`RetryAfterError`,
 * `PermanentError` or any other). The events that are not named count as done.
 */
export class BatchError extends Error {
  override readonly name = 'BatchError';
  readonly failures: ReadonlyMap<string, unknown>;

  constructor(message: string, failures: Iterable<readonly [eventId: string, error: unknown]>) {
    super(message);
    this.failures = new Map(failures);
  }
}

/** The failures of a `BatchError` by event id; undefined for any other value. */
export function batchFailuresOf(error: unknown): ReadonlyMap<string, unknown> | undefined {
  if (nameOf(error) !== 'BatchError') return undefined;
  const { failures } = error as { failures?: unknown };
  return failures instanceof Map ? (failures as ReadonlyMap<string, unknown>) : undefined;
}

/**
 * Throw it when nothing can be delivered to this subscription any more. The subscription is disabled in all processes until it is
 * enabled again (`changefeed enable`, `feed.enable`). The event does not become a dead letter and the attempt does not count: it is
 * the first of its record to be handled afterwards. The error's message is shown as the reason.
 */
export class DisableSubscriptionError extends Error {
  override readonly name = 'DisableSubscriptionError';
}

export function isDisabling(error: unknown): boolean {
  return nameOf(error) === 'DisableSubscriptionError';
}

export function isPermanent(error: unknown): boolean {
  return nameOf(error) === 'PermanentError';
}

/** The wait a `RetryAfterError` asks for, in ms; undefined for anything else. */
export function retryAfterMsOf(error: unknown): number | undefined {
  if (nameOf(error) !== 'RetryAfterError') return undefined;
  const { retryAfterMs } = error as { retryAfterMs?: unknown };
  return isWait(retryAfterMs) ? retryAfterMs : undefined;
}

function nameOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? (error as { name?: unknown }).name : undefined;
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
