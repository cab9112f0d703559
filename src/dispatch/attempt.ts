/** One attempt: a call of a handler, bounded in time even when the handler ignores its signal. */
import { ChangefeedError, describe } from '../errors.js';
import { listOf } from '../events/envelope.js';
import { SNAPSHOT_COMPLETE } from '../events/notices.js';
import type { ChangeEvent } from '../events/types.js';
import type { Clock } from '../runtime/clock.js';
import { formatDuration } from '../runtime/duration.js';
import type { Log } from '../runtime/log.js';
import type { Once, Subscription } from '../handlers/handler.js';
import { idsOf, replayOf, type Delivery } from './deliveries.js';
import { isErrorLike } from './failure.js';
import type { OnceStore } from '../state/once.js';

const REASONS = {
  late: 'The handler took longer than its timeout.',
  stopping: 'Changefeed is stopping.',
  lost: 'The event was taken over by another process.',
};

export class Interrupt {
  /** The first reason; null while nothing interrupts. */
  cause: keyof typeof REASONS | null = null;
  // Its signal is made when it is first read, which costs more time than many handlers take.
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(cause: keyof typeof REASONS, reason = new Error(REASONS[cause])): void {
    this.cause ??= cause;
    this.#controller.abort(reason);
  }
}

export interface AttemptOptions {
  subscription: Subscription;
  delivery: Delivery;
  /** 1 for the first attempt. */
  attempt: number;
  interrupt: Interrupt;
  logger: Log;
  clock: Clock;
  once: OnceStore;
}

/** @throws what the handler throws; `CF_HANDLER_TIMEOUT` after too long, `CF_HANDLER_FAILED` when that is no error */
export async function attemptDelivery(options: AttemptOptions): Promise<unknown> {
  try {
    const shaped = shape(options);
    if (shaped === null) return undefined;
    const result = isThenable(shaped)
      ? Promise.resolve(shaped).then((event) => callHandler(options, event))
      : callHandler(options, shaped);
    // A synchronous handler is done by now. The timer is most of the cost of an attempt.
    return isThenable(result) ? await withinTimeout(result, options) : result;
  } catch (error) {
    if (isErrorLike(error)) throw error as Error;
    const problem = `threw ${describe(error)}, which is not an error. Throw an Error, so that the reason is recorded.`;
    throw handlerError('CF_HANDLER_FAILED', `The handler of "${options.subscription.name}" ${problem}`, options);
  }
}

/** Null: `where` does not select the event. */
function shape(options: AttemptOptions): ChangeEvent | null | Promise<ChangeEvent> {
  const { event } = options.delivery;
  const { where, transform } = options.subscription;
  // `where` was applied when the event was read, where an error selected the event. Here an error is a failed attempt.
  if (where !== undefined && event.type !== SNAPSHOT_COMPLETE && !where(event)) return null;
  if (transform === undefined) return event;
  const reshaped: unknown = transform(event);
  return isThenable(reshaped)
    ? Promise.resolve(reshaped).then((event) => withIdentity(event, options))
    : withIdentity(reshaped, options);
}

/** A transformed event keeps its id, because receivers use it as idempotency key. */
function withIdentity(transformed: unknown, options: AttemptOptions): ChangeEvent {
  if (typeof transformed === 'object' && transformed !== null)
    return { ...(transformed as ChangeEvent), id: options.delivery.event.id };
  const message = `The transform of "${options.subscription.name}" returned ${describe(transformed)}. It must return an event.`;
  throw handlerError('CF_HANDLER_FAILED', message, options);
}

function callHandler(options: AttemptOptions, event: ChangeEvent): unknown {
  const { subscription, delivery, attempt, interrupt, logger } = options;
  const { id, workspace, event: given } = delivery;
  let log: Log | undefined;
  return subscription.handle(event, {
    // Created on first use: most handlers never log.
    get log() {
      return (log ??= logger.child({
        workspace,
        subscription: subscription.name,
        ...idsOf(id, given.id),
        attempt,
      }));
    },
    get once() {
      return onceFor(options, () => this.log);
    },
    get signal() {
      return interrupt.signal;
    },
    subscription: subscription.name,
    workspace,
    attempt,
    list: listOf(given, subscription.catalogue) ?? null,
    replay: replayOf(id) !== undefined,
  });
}

/** Its limits are described in docs/fan-out.md. */
function onceFor({ subscription, delivery, once: store }: AttemptOptions, log: () => Log): Once {
  const { workspace, event } = delivery;
  return async (key, effect) => {
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

async function withinTimeout(result: PromiseLike<unknown>, options: AttemptOptions): Promise<unknown> {
  const { subscription, clock, interrupt } = options;
  const { name, timeoutMs } = subscription;
  const ended = new AbortController();
  const timeout = clock.sleep(timeoutMs, ended.signal).then(() => {
    const problem = `did not finish within ${formatDuration(timeoutMs)}. Make it faster, have it listen to its signal, or raise the subscription's timeout.`;
    const error = handlerError('CF_HANDLER_TIMEOUT', `The handler of "${name}" ${problem}`, options);
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

function handlerError(
  code: 'CF_HANDLER_FAILED' | 'CF_HANDLER_TIMEOUT',
  message: string,
  { subscription, attempt }: AttemptOptions,
): ChangefeedError {
  return new ChangefeedError(code, { subscription: subscription.name, attempt, message });
}
