/**
 * Explains invalid options in one sentence: where (path and subscription), what was found, what is allowed. The schemas in this folder
 * have the "allowed" part as their error text; this file adds the rest. It shows short plain values, because
 * "found 'recrod'" helps, but never a value that may be a secret.
 */
import { z } from 'zod';
import { ChangefeedError, describe } from '../errors.js';
import { nearest } from '../runtime/nearest.js';

export interface OptionsPlace {
  /** Path of the options: `subscriptions[0]`, or empty for a call in code. */
  where: string;
  /** The factory they belong to: `webhook`, `defineHandler` … */
  kind: string;
}

/**
 * Checks `raw` and returns it with its defaults.
 * @throws ChangefeedError `CF_CONFIG_INVALID`: the first problem as its message, all of them in `facts.problems`.
 */
export function parseOptions<Schema extends z.ZodType>(
  schema: Schema,
  raw: unknown,
  place: OptionsPlace,
): z.output<Schema> {
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  // A misspelled key often explains why another one is missing: report it first.
  const issues = [...result.error.issues].sort((a, b) => rank(a) - rank(b));
  const problems = issues.map((issue) => sentenceOf(issue, raw, place));
  const others = problems.length === 1 ? '' : ` (${problems.length - 1} more to correct after this one.)`;
  throw new ChangefeedError('CF_CONFIG_INVALID', { message: `${problems[0] ?? ''}${others}`, problems });
}

/** An object with exactly these options; the error for an unknown one suggests a similar name. */
export function strictOptions<Shape extends z.core.$ZodLooseShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const allowed = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? unknownOption(issue.keys[0] ?? '', allowed)
        : `an object with ${allowed.join(', ')}`,
  });
}

/** `, did you mean "x"?` or nothing. */
export function didYouMean(text: string, candidates: readonly string[]): string {
  const candidate = nearest(text, candidates);
  return candidate === undefined ? '' : ` (did you mean "${candidate}"?)`;
}

function unknownOption(key: string, allowed: readonly string[]): string {
  return `there is no such option${didYouMean(key, allowed)}; allowed: ${allowed.join(', ')}`;
}

function rank(issue: z.core.$ZodIssue): number {
  return issue.code === 'unrecognized_keys' ? 0 : 1;
}

function sentenceOf(issue: z.core.$ZodIssue, raw: unknown, place: OptionsPlace): string {
  const unknownKey = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const path = pathText([place.where, ...issue.path, ...unknownKey]);
  const start = `${path === '' ? '' : `${path} of `}${ownerOf(raw, place)}`;
  if (unknownKey.length > 0) return `${start}: ${issue.message}.`;
  return `${start}: found ${show(valueAt(raw, issue.path), issue.path)}; allowed: ${issue.message}.`;
}

function ownerOf(raw: unknown, { kind }: OptionsPlace): string {
  const name = valueAt(raw, ['name']);
  if (typeof name !== 'string' || name === '') return `${kind} without a name`;
  return isShowable(name) ? `${kind} ${JSON.stringify(name)}` : `${kind} with an unusable name`;
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\.+/, '');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, step) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    return (at as Record<PropertyKey, unknown>)[step];
  }, value);
}

// URLs, variables and connections often contain keys or passwords.
const NEVER_SHOWN: ReadonlySet<PropertyKey> = new Set(['url', 'secret', 'env', 'connection', 'redis', 'payload']);

function show(value: unknown, path: readonly PropertyKey[]): string {
  if (path.some((step) => NEVER_SHOWN.has(step))) return describe(value);
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`;
  return typeof value === 'string' && isShowable(value) ? JSON.stringify(value) : describe(value);
}

function isShowable(text: string): boolean {
  return text !== '' && text.length <= 64 && !text.includes('whsec_');
}
