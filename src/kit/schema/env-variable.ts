/** `env('NAME')` in a configuration: the value of an environment variable, or a problem that names the variable. */
import { collectProblems, optionsError } from './problem.js';

/** Stands for a variable that is not set while a configuration runs. No schema accepts a control character. */
const UNSET = /\u0000unset:([^\u0000]*)\u0000/;

/**
 * The value of an environment variable. An empty variable counts as not set.
 * @throws ChangefeedError `CF_CONFIG_INVALID` naming the variable, when it is not set. While a configuration is loaded, it is
 *   reported together with all other problems.
 */
export function env(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value.trim() !== '') return value;
  const problems = [{ path: [], owner: `env('${name}')`, problem: unsetText(name), variable: name }];
  if (!collectProblems(problems)) throw optionsError(problems);
  return unsetValue(name);
}

export function unsetValue(name: string): string {
  return `\u0000unset:${name}\u0000`;
}

export function unsetText(name: string): string {
  return `the environment variable ${name} is not set; set it, in .env for example`;
}

export function unsetVariableIn(value: unknown): string | undefined {
  return typeof value === 'string' ? UNSET.exec(value)?.[1] : undefined;
}
