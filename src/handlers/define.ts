/** `defineHandler`: a handler of your own. */
import type { ChangeData, ChangeEvent, CrmRecord, EventType } from '../events/types.js';
import { ChangefeedError, describe } from '../errors.js';
import { parseOptions } from './explain.js';
import type { BatchContext, Handle, HandleBatch, HandlerContext, Subscription } from './handler.js';
import type { Conditions } from './where.js';
import { DEFAULT_BATCH, subscriptionSchema, toSubscription, type SubscriptionOptions } from './options.js';

/** An event of one type. `after` is there for everything but `deleted`, for which it is null. */
export type TypedEvent<Type extends EventType = EventType> = Type extends `${string}.deleted`
  ? ChangeEvent & {
      readonly type: Type;
      readonly data: ChangeData & { readonly before: CrmRecord; readonly after: null };
    }
  : ChangeEvent & { readonly type: Type; readonly data: ChangeData & { readonly after: CrmRecord } };

/** The event types that a pattern with `*` selects; all of them when the pattern is not known to the compiler. */
type Selected<Pattern extends string> = string extends Pattern ? EventType : Extract<EventType, Glob<Pattern>>;
type Glob<Pattern extends string> = Pattern extends `${infer Head}*${infer Tail}`
  ? `${Head}${string}${Glob<Tail>}`
  : Pattern;

/** An event that a derive function made. */
export type DerivedEvent<Type extends string = string> = ChangeEvent & {
  readonly type: Type;
  readonly data: ChangeData & Required<Pick<ChangeData, 'derivedFrom' | 'derivedBy' | 'derived'>>;
};

/** The event that a handler with this `on` receives. A type that is none of Changefeed's own is a derive function's. */
export type EventOf<On extends readonly string[]> = EventOfPattern<On[number]>;
type EventOfPattern<Pattern extends string> = Pattern extends string
  ? [Selected<Pattern>] extends [never]
    ? DerivedEvent<Glob<Pattern>>
    : TypedEvent<Selected<Pattern>>
  : never;

export interface HandlerOptions<On extends readonly string[]> extends Omit<SubscriptionOptions, 'on' | 'where'> {
  /** Event types, `*` for any run of characters. @defaultValue `['crm.*']` */
  on?: On | undefined;
  /** Conditions as data, or a function of the event. @defaultValue all */
  where?: Conditions | ((event: EventOf<On>) => boolean) | undefined;
  /**
   * Handles one event. Resolving is success; throwing steers: `RetryAfterError` waits as told, `PermanentError` makes a
   * dead letter at once, anything else is retried by `retry`. Delivery is at least once: `event.id` is the idempotency key.
   */
  handle?: (event: EventOf<On>, context: HandlerContext) => void | Promise<void>;
  /**
   * Instead of `handle`: handles many events at once, collected as `batch` says; those of one record stand in their order.
   * Throwing a `BatchError` names the events that failed, each with its own error; those it does not name are done.
   */
  handleBatch?: (events: readonly EventOf<On>[], context: BatchContext) => void | Promise<void>;
  /** Lets go of what the handler holds; called once when the process stops. */
  close?: () => Promise<void>;
}

/**
 * A subscription with a handler of your own.
 * @throws ChangefeedError `CF_CONFIG_INVALID` naming the subscription, the option, what was found and what is allowed.
 */
export function defineHandler<const On extends readonly string[] = readonly ['crm.*']>(
  options: HandlerOptions<On>,
): Subscription {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null) {
    const message = `defineHandler: found ${describe(given)}; allowed: an object such as { name, on, handle(event, context) { … } }.`;
    throw new ChangefeedError('CF_CONFIG_INVALID', { message });
  }
  const { handle, handleBatch, close, ...shared } = options;
  const settings = parseOptions(subscriptionSchema, shared, { where: '', kind: 'defineHandler' });
  if (close !== undefined) requireFunction(settings.name, 'close', close);
  const parts = { handler: 'custom', close: close?.bind(options) };
  // The queue hands over only what `on` selects, so the narrower event is what arrives.
  if (handleBatch === undefined) {
    requireFunction(settings.name, 'handle', handle);
    return toSubscription(settings, { ...parts, handle: handle?.bind(options) as Handle });
  }
  requireFunction(settings.name, 'handleBatch', handleBatch);
  if (handle !== undefined) throw bothGiven(settings.name);
  const inBatches = handleBatch.bind(options) as HandleBatch;
  return toSubscription(
    { ...settings, batch: settings.batch ?? DEFAULT_BATCH },
    { ...parts, handle: oneByOne(inBatches), handleBatch: inBatches },
  );
}

function oneByOne(handleBatch: HandleBatch): Handle {
  return (event, context) => handleBatch([event], { ...context, about: () => context });
}

function bothGiven(name: string): ChangefeedError {
  const message = `defineHandler "${name}": found handle and handleBatch; allowed: one of them.`;
  return new ChangefeedError('CF_CONFIG_INVALID', { message });
}

function requireFunction(name: string, option: string, value: unknown): void {
  if (typeof value === 'function') return;
  const message = `${option} of defineHandler "${name}": found ${describe(value)}; allowed: a function.`;
  throw new ChangefeedError('CF_CONFIG_INVALID', { message });
}
