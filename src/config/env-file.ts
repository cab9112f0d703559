/** `.env` in the working directory: variables of a project that are not in its repository, such as the API token. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ChangefeedError, messageOf } from '../kit/errors.js';

const NAME = '.env';

const added = new WeakMap<object, readonly string[]>();

export function envFileIn(cwd: string): string {
  return join(cwd, NAME);
}

/** A variable that the process was started with keeps its value. Returns what undoes this. */
export function addEnvFile(cwd: string, env: Record<string, string | undefined>): () => void {
  const before = added.get(env) ?? [];
  const values = before.map((name) => [name, env[name]] as const);
  const found = Object.entries(variablesIn(envFileIn(cwd)));
  replace(
    env,
    found.filter(([name]) => env[name] === undefined || before.includes(name)),
  );
  return () => replace(env, values);
}

function variablesIn(file: string): NodeJS.Dict<string> {
  // A folder of this name is something else, such as a Python environment.
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return {};
  return parseEnv(readText(file, NAME, ', or remove it'));
}

function replace(
  env: Record<string, string | undefined>,
  entries: readonly (readonly [name: string, value: string | undefined])[],
): void {
  for (const name of added.get(env) ?? []) Reflect.deleteProperty(env, name);
  // The environment of the process would store `undefined` as a text.
  for (const [name, value] of entries) if (value !== undefined) env[name] = value;
  added.set(
    env,
    entries.map(([name]) => name),
  );
}

/** The text without the byte order mark that some editors and shells of Windows write. @param alternative what else the user can do */
export function readText(file: string, source: string, alternative = ''): string {
  try {
    const bytes = readFileSync(file);
    const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
  } catch (cause) {
    const message = `${source}: it cannot be read (${messageOf(cause)}). Allow this user to read it${alternative}.`;
    throw new ChangefeedError('CF_CONFIG_UNLOADABLE', { message, source, cause });
  }
}
