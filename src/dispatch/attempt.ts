/** One attempt: a call of a handler, bounded in time even when the handler ignores its signal. */
import { ChangefeedError, describe } from '../errors.js';
import { listOf } from '../events/envelope.js';
import type { ChangeEvent } from '../events/types.js';
import type { Clock } from '../runtime/clock.js';
import { formatDuration } from '../runtime/duration.js';
import type { Log } from '../runtime/log.js';
import type { Once, Subscription } from '../handlers/handler.js';
import { idsOf, replayOf } from './deliveries.js';
import { isErrorLike } from './failure.js';
import type { Delivery, OnceStore } from './ports.js';

export type Interruption = 'late' | 'stopping' | 'lost';

const REASONS: Readonly<Record<Interruption, string>> = {
  late: 'The handler took longer than its timeout.',
  stopping: 'Changefeed is stopping.',
  lost: 'The event was taken over by another process.',
};

/**
 * Aborts a handler's signal and records why. The controller is made when the handler asks for its signal: making one costs
 * more time than many handlers take.
 */
export class Interrupt {
  /** The first reason; null while nothing interrupts. */
  cause: Interruption | null = null;
  #reason: Error | undefined;
  #controller: AbortController | undefined;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.cause !== null) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  abort(cause: Interruption, reason: Error = new Error(REASONS[cause])): void {
    if (this.cause !== null) return;
    this.cause = cause;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

export interface AttemptOptions {
  subscription: Subscription;
  delivery: Delivery;
  /** 1 for the first attempt. */
  attempt: number;
  /** Aborted by the worker when the process stops or the job is lost, and here when the handler takes too long. */
  interrupt: Interrupt;
  logger: Log;
  clock: Clock;
  once: OnceStore;
  /** Of the span of this attempt; see `HandlerContext`. */
  traceparent?: string | undefined;
}

/**
 * What the handler returns is ignored.
 * @throws what the handler throws; ChangefeedError `CF_HANDLER_TIMEOUT` when it took too long, `CF_HANDLER_FAILED`
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

/** Runs the user's code within the timeout. A thrown value that is not an error becomes one. */
export async function runBounded(run: () => unknown, bounds: Bounds): Promise<unknown> {
  try {
    const result = run();
    // A synchronous handler is done by now. The timer is most of the cost of an attempt.
    return isThenable(result) ? await withinTimeout(result, bounds) : result;
  } catch (error) {
    throw isErrorLike(error) ? (error as Error) : notAnError(bounds, error);
  }
}

type ShapeOptions = Pick<AttemptOptions, 'subscription' | 'delivery' | 'attempt'>;

/** Applies `where` and `transform` before the handler. Null: `where` does not select the event. */
export function shape(options: ShapeOptions): ChangeEvent | null | Promise<ChangeEvent> {
  const { subscription, delivery } = options;
  const { event } = delivery;
  const { where, transform } = subscription;
  // `where` was applied when the event was read, where an error selected the event. Here an error is a failed attempt.
  if (where !== undefined && !where(event)) return null;
  if (transform === undefined) return event;
  const reshaped: unknown = transform(event);
  return isThenable(reshaped)
    ? Promise.resolve(reshaped).then((event) => withIdentity(event, options))
    : withIdentity(reshaped, options);
}

/** A transformed event keeps its id, because receivers use it as idempotency key. */
function withIdentity(transformed: unknown, { subscription, delivery: { event }, attempt }: ShapeOptions): ChangeEvent {
  if (typeof transformed === 'object' && transformed !== null) {
    return { ...(transformed as ChangeEvent), id: event.id };
  }
  throw new ChangefeedError('CF_HANDLER_FAILED', {
    subscription: subscription.name,
    attempt,
    message: `The transform of "${subscription.name}" returned ${describe(transformed)}. It must return an event.`,
  });
}

function callHandler(options: AttemptOptions, event: ChangeEvent): unknown {
  const { subscription, delivery, attempt, interrupt, logger, traceparent } = options;
  let log: Log | undefined;
  let once: Once | undefined;
  return subscription.handle(event, {
    // Created on first use: most handlers never log.
    get log() {
      const { workspace } = delivery;
      return (log ??= logger.child({ workspace, subscription: subscription.name, ...idsOf(delivery), attempt }));
    },
    get signal() {
      return interrupt.signal;
    },
    get once() {
      return (once ??= onceFor(options, delivery, () => this.log));
    },
    subscription: subscription.name,
    traceparent,
    ...factsOf(options),
  });
}

/** What a handler can ask of each event, alone or in a batch. */
export function factsOf({ subscription, delivery, attempt }: ShapeOptions) {
  const { id, workspace, event } = delivery;
  const list = listOf(event, subscription.catalogue) ?? null;
  return { attempt, workspace, list, replay: replayOf(id) !== undefined };
}

interface OnceParts {
  subscription: Subscription;
  once: OnceStore;
}

/** `context.once`: runs a side effect at most once per event and subscription. Its limits are described in docs/fan-out.md. */
export function onceFor({ subscription, once: store }: OnceParts, delivery: Delivery, log: () => Log): Once {
  return async (key, effect) => {
    const { workspace, event } = delivery;
    const mark = { subscription: subscription.name, workspace, eventId: event.id, key };
    const found = await store.begin(mark);
    if (found === 'done') return 'before';
    if (found === 'started') {
      log().warn({ key }, 'side effect started before with unknown result, not run again');
      return 'unknown';
    }
    try {
      await effect();
    } catch (error) {
      // It is known to have failed: the next attempt may run it again.
      await store.forget(mark);
      throw error;
    }
    await store.finish(mark);
    return 'ran';
  };
}

// Created once: an abort without a reason creates an exception with a stack every time.
const ENDED = new Error('The handler has ended.');

async function withinTimeout(result: PromiseLike<unknown>, bounds: Bounds): Promise<unknown> {
  const { subscription, clock, interrupt } = bounds;
  const ended = new AbortController();
  const timeout = clock.sleep(subscription.timeoutMs, ended.signal).then(() => {
    const error = timedOut(bounds);
    interrupt.abort('late', error);
    throw error;
  });
  try {
    return await Promise.race([result, timeout]);
  } finally {
    ended.abort(ENDED);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
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
    message: `The handler of "${subscription.name}" threw ${describe(thrown)}, which is not an error. Throw an Error, so that the reason is recorded.`,
  });
}
