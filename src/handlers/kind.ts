/** A built-in handler for the registry: the schema of its options, and how they become a subscription. */
import type { z } from 'zod';
import { parseOptions } from './explain.js';
import type { Subscription } from './handler.js';

export interface Kind {
  /** The value of `"handler"` in JSON. */
  readonly handler: string;
  /** Its options as data, without `handler`. */
  readonly schema: z.ZodType;
  /**
   * Checks the options and builds the subscription. `where` is the path of the options; empty for a call in code.
   * @throws ChangefeedError `CF_CONFIG_INVALID`
   */
  build(options: unknown, where: string): Subscription;
}

const SETTINGS = new WeakMap<object, unknown>();

/** The checked options of a built-in handler, to tell whether two subscriptions are the same. Undefined for other handlers. */
export function settingsOf(subscription: Subscription): unknown {
  return SETTINGS.get(subscription);
}

/** Gives a copy of a subscription the options that the original was made of. */
export function keepSettings<One extends object>(original: One, copy: One): One {
  if (SETTINGS.has(original)) SETTINGS.set(copy, SETTINGS.get(original));
  return copy;
}

export function defineKind<Schema extends z.ZodType>(
  handler: string,
  schema: Schema,
  create: (options: z.output<Schema>) => Subscription,
): Kind {
  return {
    handler,
    schema,
    build(options, where) {
      const settings = parseOptions(schema, options, { where, kind: handler });
      const subscription = create(settings);
      SETTINGS.set(subscription, settings);
      return subscription;
    },
  };
}
