/** A built-in handler: the schema of its options, and how they become a subscription. */
import type { z } from 'zod';
import { ChangefeedError } from '../../kit/errors.js';
import { problemsOf } from '../../kit/schema/explain.js';
import { collectProblems, optionsError, problemsIn } from '../../kit/schema/problem.js';
import { showable } from '../../kit/schema/secret.js';
import type { Subscription } from './handler.js';

export type Kind = ReturnType<typeof defineKind>;

export function defineKind<Schema extends z.ZodType>(
  handler: string,
  schema: Schema,
  create: (options: z.output<Schema>) => Subscription,
) {
  /** @throws ChangefeedError `CF_CONFIG_INVALID` */
  const build = (options: unknown): Subscription => create(parseOptions(schema, options, handler));
  /** The same for a call in code. While a configuration is loaded, a call with problems returns what `isRefused` recognises. */
  const inCode = (options: unknown): Subscription => orRefuse(() => build(options));
  return { handler, schema, build, inCode };
}

const REFUSED = { refused: true } as const;

/** Whether a value stands for a call whose problems are reported elsewhere. */
export function isRefused(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'refused' in value;
}

/** While a configuration is loaded, problems of the call are collected, and it returns a stand-in. */
export function orRefuse<Made extends object>(make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ChangefeedError) || error.code !== 'CF_CONFIG_INVALID') throw error;
    if (collectProblems(problemsIn(error))) return REFUSED as unknown as Made;
    throw error;
  }
}

/** @throws ChangefeedError `CF_CONFIG_INVALID` with all problems */
export function parseOptions<Schema extends z.ZodType>(schema: Schema, raw: unknown, kind: string): z.output<Schema> {
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  // A misspelled key is the likely reason for another one missing, so it comes first.
  const issues = [...result.error.issues].sort((a, b) => rank(a) - rank(b));
  throw optionsError(issues.flatMap((issue) => problemsOf(issue, { schema, raw, owner: ownerOf(raw, kind) })));
}

function rank(issue: z.core.$ZodIssue): number {
  return issue.code === 'unrecognized_keys' ? 0 : 1;
}

function ownerOf(raw: unknown, kind: string): string {
  const name: unknown = typeof raw === 'object' && raw !== null && 'name' in raw ? raw.name : undefined;
  if (typeof name !== 'string' || name === '') return `${kind} without a name`;
  return showable(name, 'shown') === name ? `${kind} ${JSON.stringify(name)}` : `${kind} with an unusable name`;
}
