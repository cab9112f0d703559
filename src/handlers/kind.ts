/** What the registry knows of a built-in handler: how its options look as data, and how they become a subscription. */
import type { z } from 'zod';
import { parseOptions } from './explain.js';
import type { Subscription } from './handler.js';

export interface Kind {
  /** The word under `"handler"` in JSON. */
  readonly handler: string;
  /** Its options as data, `handler` itself left out. */
  readonly schema: z.ZodType;
  /**
   * Checks the options and builds the subscription. `where` is the path they stand at; empty for a call in code.
   * @throws ChangefeedError `CF_CONFIG_INVALID`
   */
  build(options: unknown, where: string): Subscription;
}

export function defineKind<Schema extends z.ZodType>(
  handler: string,
  schema: Schema,
  create: (options: z.output<Schema>) => Subscription,
): Kind {
  return {
    handler,
    schema,
    build: (options, where) => ({
      ...create(parseOptions(schema, options, { where, kind: handler })),
      given: options,
    }),
  };
}
