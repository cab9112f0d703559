/**
 * Problems of options as sentences: the path, what was found, what is allowed. The schemas carry the "allowed" half as
 * their error texts. Small plain values are shown, because "found 'recrod'" is what helps; what `secret` marks in the schema never is.
 */
import type { z } from 'zod';
import { describe } from '../errors.js';
import { unsetText, unsetVariableIn } from './env-variable.js';
import { showable, visibilityAt, type Visibility } from './secret.js';

export interface Explained {
  /** What it was checked by: it says which values are secrets. */
  schema: z.ZodType;
  /** What was checked. */
  raw: unknown;
  /** Path of the options: `subscriptions[0]`. @defaultValue they are the whole */
  where?: string;
  /** What the options belong to: `webhook "ops"`. */
  owner?: string;
  /** Says where a missing value should come from, by its path. */
  remedyOf?: (path: string) => string | undefined;
}

/** An issue added with `params: { whole: true }` has a message that needs only its path. */
export function sentenceOf(issue: z.core.$ZodIssue, { schema, raw, where = '', owner, remedyOf }: Explained): string {
  const unknownKey = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const path = pathText([...(where === '' ? [] : [where]), ...issue.path, ...unknownKey]);
  const subject = [path, owner].filter((part) => part !== undefined && part !== '').join(' of ') || 'the configuration';
  if (unknownKey.length > 0 || (issue.code === 'custom' && issue.params?.['whole'] === true))
    return `${subject}: ${issue.message}.`;
  const found = valueAt(raw, issue.path);
  const unset = unsetVariableIn(found);
  if (unset !== undefined) return `${subject}: ${unsetText(unset)}.`;
  const remedy = found === undefined || found === '' ? remedyOf?.(path) : undefined;
  const sentence = `${subject}: found ${show(found, visibilityAt(schema, issue.path))}; allowed: ${issue.message}.`;
  return remedy === undefined ? sentence : `${sentence} ${remedy}`;
}

/** `workspaces[0].lists.people.interval` */
export function pathText(path: readonly PropertyKey[]): string {
  const steps = path.map((step, index) => {
    if (typeof step === 'number') return `[${step}]`;
    if (index === 0 || /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(String(step))) return `.${String(step)}`;
    return `[${JSON.stringify(step)}]`;
  });
  return steps.join('').replace(/^\./, '');
}

/** The path at the beginning of a sentence; empty where there is none. */
export function pathIn(sentence: string): PropertyKey[] {
  const [text = ''] =
    /^[\p{L}_$][\p{L}\p{N}_$]*(\.[\p{L}_$][\p{L}\p{N}_$]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*(?= of |[:,])/u.exec(
      sentence,
    ) ?? [];
  return [...text.matchAll(/\.?([\p{L}_$][\p{L}\p{N}_$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gu)].map(
    ([, word, index, quoted]) =>
      index !== undefined ? Number(index) : quoted !== undefined ? (JSON.parse(quoted) as string) : (word ?? ''),
  );
}

/** A text may be short for an object with one option: it is what was found at that option's path. */
function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, step) => {
    if (typeof at === 'string') return at;
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    return (at as Record<PropertyKey, unknown>)[step];
  }, value);
}

function show(value: unknown, visibility: Visibility): string {
  if (typeof value === 'string') {
    const shown = showable(value, visibility);
    return shown === undefined ? describe(value) : JSON.stringify(shown);
  }
  const isPlain = typeof value === 'number' || typeof value === 'boolean';
  return isPlain && visibility !== 'hidden' ? `the ${typeof value} ${value}` : describe(value);
}
