/** `env('NAME')` in a configuration: the value of an environment variable, or a problem that names the variable. */
import { readFileSync } from 'node:fs';
import { ChangefeedError, messageOf } from '../errors.js';
import { collectProblems, optionsError } from './problem.js';

/** Stands for a variable that is not set while a configuration runs. No schema accepts a control character. */
const UNSET = /\u0000unset:([^\u0000]*)\u0000/;

/** The value, or what the file has that `<NAME>_FILE` names: secrets of containers are files. @throws ChangefeedError CF_CONFIG_UNLOADABLE */
export function variableIn(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const [value = '', file = ''] = [env[name], env[`${name}_FILE`]];
  if (value.trim() !== '') return value;
  if (file.trim() === '') return undefined;
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === '' ? undefined : text;
  } catch (cause) {
    const message = `${name}_FILE names a file that cannot be read (${messageOf(cause)}). Correct the variable, or allow this user to read the file.`;
    throw new ChangefeedError('CF_CONFIG_UNLOADABLE', { message, cause });
  }
}

/**
 * The value of an environment variable, or what the file has that `<NAME>_FILE` names. An empty variable counts as not set.
 * @throws ChangefeedError `CF_CONFIG_INVALID` naming the variable, when it is not set. While a configuration is loaded, it is
 *   reported together with all other problems.
 */
export function env(name: string): string {
  const value = variableIn(process.env, name);
  if (value !== undefined) return value;
  const problems = [{ path: [], owner: `env('${name}')`, problem: unsetText(name), variable: name }];
  if (!collectProblems(problems)) throw optionsError(problems);
  return unsetValue(name);
}

export function unsetValue(name: string): string {
  return `\u0000unset:${name}\u0000`;
}

/** Shells and Compose know further forms, such as `${NAME:-x}`. */
const NAME = /^[\w.]*$/;

export function unsetText(name: string): string {
  if (!NAME.test(name))
    return `"${name}" is not the name of a variable; write \${NAME}, without a default or an operator`;
  return `the environment variable ${name} is not set; set it, in .env for example`;
}

export function unsetVariableIn(value: unknown): string | undefined {
  return typeof value === 'string' ? UNSET.exec(value)?.[1] : undefined;
}
