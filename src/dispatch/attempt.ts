/** One try of a handler: bounded in time even when the handler ignores its signal. */
import { ChangefeedError, describe } from '../errors.js';
import type { ChangeEvent } from '../events/types.js';
import type { Clock } from '../runtime/clock.js';
import { formatDuration } from '../runtime/duration.js';
import type { Log } from '../runtime/log.js';
import type { Handle, Once, Subscription } from '../handlers/handler.js';
import type { Interrupt } from './interrupt.js';
import { createOnce } from './once.js';
import type { Delivery, OnceStore } from './ports.js';

export interface AttemptOptions {
  subscription: Subscription;
  delivery: Delivery;
  /** 1 for the first try. */
  attempt: number;
  /** Aborted by others when the process stops or the job was lost, here when the handler takes too long. */
  interrupt: Interrupt;
  logger: Log;
  clock: Clock;
  once: OnceStore;
}

/**
 * Gives back what the handler gave (it should give nothing).
 * @throws whatever the handler throws; ChangefeedError `CF_HANDLER_TIMEOUT` when it took too long, `CF_HANDLER_FAILED`
 * when what it threw is not an error
 */
export function attemptDelivery(options: AttemptOptions): Promise<unknown> {
  return runBounded(() => {
    const shaped = shape(options);
    if (shaped === null) return undefined;
    return isThenable(shaped)
      ? Promise.resolve(shaped).then((event) => callHandler(options, event))
      : callHandler(options, shaped);
  }, options);
}

export type Bounds = Pick<AttemptOptions, 'subscription' | 'interrupt' | 'clock'> & { attempt?: number };

/** Runs users' code: not longer than it may, and what it throws is an error. */
export async function runBounded(run: () => unknown, bounds: Bounds): Promise<unknown> {
  try {
    const given = run();
    // One that is done when it returns needs no timer, and most of the cost of a try is the timer.
    return isThenable(given) ? await withinTimeout(given, bounds) : given;
  } catch (error) {
    throw isErrorLike(error) ? error : notAnError(bounds, error);
  }
}

type ShapeOptions = Pick<AttemptOptions, 'subscription' | 'delivery' | 'attempt'>;

/**
 * What stands before the handler: a `where` that could not be decided when the event was read, and `transform`. Null: the
 * event is not wanted.
 */
export function shape(options: ShapeOptions): ChangeEvent | null | Promise<ChangeEvent> {
  const { subscription, delivery } = options;
  const { event } = delivery;
  const { where, transform } = subscription;
  // Most that come here have passed it; it is asked again for those for which it threw.
  if (where !== undefined && !where(event)) return null;
  if (transform === undefined) return event;
  const reshaped: unknown = transform(event);
  return isThenable(reshaped)
    ? Promise.resolve(reshaped).then((given) => withIdentity(given, options))
    : withIdentity(reshaped, options);
}

/** The id is the idempotency key of everything behind: it stays what it is. */
function withIdentity(given: unknown, { subscription, delivery: { event }, attempt }: ShapeOptions): ChangeEvent {
  if (typeof given === 'object' && given !== null) return { ...(given as ChangeEvent), id: event.id };
  throw new ChangefeedError('CF_HANDLER_FAILED', {
    subscription: subscription.name,
    attempt,
    message: `The transform of "${subscription.name}" gave ${describe(given)}. It must give an event.`,
  });
}

function callHandler(options: AttemptOptions, event: ChangeEvent): unknown {
  const { subscription, delivery, attempt, interrupt, logger, once: store } = options;
  let log: Log | undefined;
  let once: Once | undefined;
  // Typed to give nothing; what it gives all the same is for the caller to remark on.
  const handle = subscription.handle as (...args: Parameters<Handle>) => unknown;
  return handle.call(subscription, event, {
    // Made when asked for: most handlers never log.
    get log() {
      return (log ??= logger.child({ subscription: subscription.name, event: delivery.event.id, attempt }));
    },
    get signal() {
      return interrupt.signal;
    },
    get once() {
      return (once ??= createOnce({
        store,
        subscription: subscription.name,
        workspace: delivery.workspace,
        eventId: delivery.event.id,
        log: () => this.log,
      }));
    },
    attempt,
    subscription: subscription.name,
    workspace: delivery.workspace,
    replay: delivery.replay !== undefined,
  });
}

// Made once: an abort without a reason makes an exception with a stack every time.
const SETTLED = new Error('The handler has settled.');

async function withinTimeout(given: PromiseLike<unknown>, bounds: Bounds): Promise<unknown> {
  const { subscription, clock, interrupt } = bounds;
  const settled = new AbortController();
  const timeout = clock.sleep(subscription.timeoutMs, settled.signal).then(() => {
    const error = timedOut(bounds);
    interrupt.abort('late', error);
    throw error;
  });
  try {
    return await Promise.race([given, timeout]);
  } finally {
    settled.abort(SETTLED);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Errors of another realm, or of another copy of this package, are errors too. */
function isErrorLike(error: unknown): boolean {
  return (
    error instanceof Error || (typeof error === 'object' && error !== null && 'name' in error && 'message' in error)
  );
}

function timedOut({ subscription, attempt }: Bounds): ChangefeedError {
  const within = formatDuration(subscription.timeoutMs);
  return new ChangefeedError('CF_HANDLER_TIMEOUT', {
    subscription: subscription.name,
    attempt,
    message: `The handler of "${subscription.name}" did not finish within ${within}. Make it faster, have it listen to its signal, or raise the subscription's timeout.`,
  });
}

function notAnError({ subscription, attempt }: Bounds, thrown: unknown): ChangefeedError {
  return new ChangefeedError('CF_HANDLER_FAILED', {
    subscription: subscription.name,
    attempt,
    message: `The handler of "${subscription.name}" threw ${describe(thrown)}, which is not an error. Throw an Error, so that the reason can be told.`,
  });
}
