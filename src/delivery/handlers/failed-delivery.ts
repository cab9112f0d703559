/** What a kind of handler says of a failed delivery, and the error that makes of it what follows. */
import { retryAfterMs } from '../../kit/backoff.js';
import { parseDuration } from '../../kit/duration.js';
import { ChangefeedError, type ErrorCode } from '../../kit/errors.js';
import { printable, shorten } from '../../kit/printable.js';
import { DisableSubscriptionError, PermanentError, RetryAfterError } from './errors.js';

/** Why a delivery failed, and what follows. */
export interface DeliveryFailure {
  /**
   * `retry`: another attempt. `dead`: a dead letter at once, because no attempt can succeed. `pause`: nothing can be delivered any more, and the
   * subscription is paused until a person resumes it. @defaultValue 'retry'
   */
  then?: 'retry' | 'dead' | 'pause' | undefined;
  /**
   * With `retry`, how long to wait: ms, a duration such as `'30s'`, or the header `Retry-After` as it was received; at most a day.
   * @defaultValue as the `retry` of the subscription says
   */
  retryAfter?: number | string | null | undefined;
  /** What happened, and what to do, in a sentence that logs and people may see: no contents of a record, no secret. */
  message: string;
  /** The words of the receiver, which may quote a record. They are kept with the dead letter, and are in no log. @defaultValue nothing */
  said?: string | undefined;
  /** The status of HTTP with which the receiver answered. @defaultValue none */
  status?: number | undefined;
  /** @defaultValue 'CF_DELIVERY_REFUSED' */
  code?: ErrorCode | undefined;
  /** Further facts, as fields of a line in the log. @defaultValue none */
  facts?: Readonly<Record<string, unknown>> | undefined;
  /** The error itself. Only where it quotes no record. @defaultValue none */
  cause?: unknown;
}

/** A receiver that asks for more than a day is broken or hostile: an event must not wait for years. */
export const LONGEST_WAIT_MS = 86_400_000;
const LONGEST_SAID = 200;

/** @param owner `who` begins the message: `Webhook "ops"` */
export function failureError(
  failure: DeliveryFailure,
  { who, subscription, now }: { who: string; subscription: string; now: number },
): Error {
  const { then = 'retry', code = 'CF_DELIVERY_REFUSED', status, said = '', facts, cause } = failure;
  const message = `${who}: ${failure.message}`;
  const refused = new ChangefeedError(code, {
    ...facts,
    ...{ message, subscription, cause, said: shorten(printable(said).trim(), LONGEST_SAID) },
    ...(status !== undefined && { status }),
  });
  if (then === 'pause') return new DisableSubscriptionError(message, { cause: refused });
  if (then === 'dead') return new PermanentError(message, { cause: refused });
  const waitMs = waitOf(failure.retryAfter, now);
  return waitMs === null ? refused : new RetryAfterError(message, { retryAfter: waitMs, cause: refused });
}

function waitOf(asked: DeliveryFailure['retryAfter'], now: number): number | null {
  const waitMs = typeof asked === 'string' ? (parseDuration(asked) ?? retryAfterMs(asked, now)) : asked;
  return typeof waitMs === 'number' && waitMs >= 0 ? Math.min(waitMs, LONGEST_WAIT_MS) : null;
}
