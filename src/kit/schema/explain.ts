/** Problems of options: the path, what was found, what is allowed. What `secret` marks is never shown. */
import type { z } from 'zod';
import { describe } from '../errors.js';
import { unsetText, unsetVariableIn } from './env-variable.js';
import type { ConfigProblem, Path } from './problem.js';
import { showable, visibilityAt, type Visibility } from './secret.js';

export interface Explained {
  /** Says which values are secrets. */
  schema: z.ZodType;
  raw: unknown;
  /** The owner of the options: `webhook "ops"`. */
  owner?: string;
  /** Says where a missing value should come from. */
  remedyOf?: (path: Path) => string | undefined;
}

export function problemsOf(issue: z.core.$ZodIssue, explained: Explained): ConfigProblem[] {
  if (issue.code !== 'unrecognized_keys') return [problemOf(issue, explained)];
  const texts = issue.message.split('\n');
  return issue.keys.map((key, nth) => {
    return { path: [...issue.path, key], owner: explained.owner, problem: texts[nth] ?? issue.message };
  });
}

/** An issue added with `params: { whole: true }` has a message that needs only its path. */
function problemOf(issue: z.core.$ZodIssue, { schema, raw, owner, remedyOf }: Explained): ConfigProblem {
  const { path } = issue;
  const at = { path, owner: path.length === 0 ? (owner ?? 'the configuration') : owner };
  if (issue.code === 'custom' && issue.params?.['whole'] === true) return { ...at, problem: issue.message };
  const value = valueAt(raw, issue.path);
  const variable = unsetVariableIn(value);
  if (variable !== undefined) return { ...at, problem: unsetText(variable), variable };
  const suggestion = value === undefined || value === '' ? remedyOf?.(path) : undefined;
  const problem = `found ${show(value, visibilityAt(schema, issue.path))}; allowed: ${allowedBy(issue.message)}`;
  return { ...at, problem, suggestion };
}

/** A schema by others may have messages of zod. */
function allowedBy(message: string): string {
  return message.replace(/^(?:Invalid|Too)\b[^:]*: expected (.*?)(?:, received .*)?$/s, '$1');
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
