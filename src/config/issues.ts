/** Problems of a configuration, said one per line: where, what was found, what is allowed; never a secret. */
import type { z } from 'zod';
import { ChangefeedError, describe } from '../errors.js';

/**
 * @param source the file, or "the environment"
 * @param problems sentences; at least one
 */
export function invalidConfig(source: string, problems: readonly string[]): ChangefeedError {
  const message =
    problems.length === 1
      ? `${source}: ${problems[0] ?? ''}`
      : `${source}: ${problems.length} things to mend:\n${problems.map((problem) => `  ${problem}`).join('\n')}`;
  return new ChangefeedError('CF_CONFIG_INVALID', { message, source, problems });
}

export interface IssueContext {
  /** What was checked. */
  raw: unknown;
  /** Says where a value should come from, by the path of a missing one. */
  remedyOf: (path: string) => string | undefined;
}

export function sentenceOf(issue: z.core.$ZodIssue, { raw, remedyOf }: IssueContext): string {
  if (issue.code === 'unrecognized_keys') return `${pathText([...issue.path, issue.keys[0] ?? ''])}: ${issue.message}.`;
  const path = pathText(issue.path);
  if (issue.code === 'custom' && issue.params?.['whole'] === true) return `${path}: ${issue.message}.`;
  const found = valueAt(raw, issue.path);
  const remedy = found === undefined || found === '' ? remedyOf(path) : undefined;
  const end = remedy === undefined ? '' : ` ${remedy}`;
  return `${path === '' ? 'the configuration' : path}: found ${show(found, issue.path)}; allowed: ${issue.message}.${end}`;
}

/** `workspaces[0].lists.people.interval` */
export function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(String(step)) ? `.${String(step)}` : `[${JSON.stringify(step)}]`;
  });
  return text.join('').replace(/^\./, '');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, step) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    return (at as Record<PropertyKey, unknown>)[step];
  }, value);
}

// A token put into the wrong field is still a token: of these fields no value is repeated. Neither is a long one.
const MAY_BE_SECRET: ReadonlySet<PropertyKey> = new Set(['token', 'baseUrl', 'redis', 'url', 'secret']);

function show(value: unknown, path: readonly PropertyKey[]): string {
  if (path.some((step) => MAY_BE_SECRET.has(step))) return describe(value);
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`;
  return typeof value === 'string' && value !== '' && value.length <= 32 ? JSON.stringify(value) : describe(value);
}
