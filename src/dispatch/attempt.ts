/** One try of a handler: bounded in time even when the handler ignores its signal. */
import { ChangefeedError, describe } from '../errors.js';
import type { Clock } from '../runtime/clock.js';
import { formatDuration } from '../runtime/duration.js';
import type { Log } from '../runtime/log.js';
import type { Handle, Subscription } from '../handlers/handler.js';
import type { Delivery } from './ports.js';

export interface AttemptOptions {
  subscription: Subscription;
  delivery: Delivery;
  /** 1 for the first try. */
  attempt: number;
  /** Aborts when the process stops, or when the job was lost to another process. */
  signal: AbortSignal;
  logger: Log;
  clock: Clock;
}

/**
 * Gives back what the handler gave (it should give nothing).
 * @throws whatever the handler throws; ChangefeedError `CF_HANDLER_TIMEOUT` when it took too long, `CF_HANDLER_FAILED`
 * when what it threw is not an error
 */
export async function attemptDelivery(options: AttemptOptions): Promise<unknown> {
  const { subscription, clock } = options;
  const late = new AbortController();
  const settled = new AbortController();
  const timeout = clock.sleep(subscription.timeoutMs, settled.signal).then(() => {
    const error = timedOut(options);
    late.abort(error);
    throw error;
  });
  try {
    return await Promise.race([callHandler(options, late.signal), timeout]);
  } finally {
    settled.abort();
  }
}

async function callHandler(options: AttemptOptions, late: AbortSignal): Promise<unknown> {
  const { subscription, delivery, attempt, signal, logger } = options;
  let log: Log | undefined;
  try {
    // Typed to give nothing; what it gives all the same is for the caller to remark on.
    const handle = subscription.handle as (...args: Parameters<Handle>) => unknown;
    return await handle.call(subscription, delivery.event, {
      // Made when asked for: most handlers never log.
      get log() {
        return (log ??= logger.child({ subscription: subscription.name, event: delivery.event.id, attempt }));
      },
      signal: AbortSignal.any([signal, late]),
      attempt,
      subscription: subscription.name,
      workspace: delivery.workspace,
    });
  } catch (error) {
    throw isErrorLike(error) ? error : notAnError(options, error);
  }
}

/** Errors of another realm, or of another copy of this package, are errors too. */
function isErrorLike(error: unknown): boolean {
  return (
    error instanceof Error || (typeof error === 'object' && error !== null && 'name' in error && 'message' in error)
  );
}

function timedOut({ subscription, attempt }: AttemptOptions): ChangefeedError {
  const within = formatDuration(subscription.timeoutMs);
  return new ChangefeedError('CF_HANDLER_TIMEOUT', {
    subscription: subscription.name,
    attempt,
    message: `The handler of "${subscription.name}" did not finish within ${within}. Make it faster, have it listen to its signal, or raise the subscription's timeout.`,
  });
}

function notAnError({ subscription, attempt }: AttemptOptions, thrown: unknown): ChangefeedError {
  return new ChangefeedError('CF_HANDLER_FAILED', {
    subscription: subscription.name,
    attempt,
    message: `The handler of "${subscription.name}" threw ${describe(thrown)}, which is not an error. Throw an Error, so that the reason can be told.`,
  });
}
