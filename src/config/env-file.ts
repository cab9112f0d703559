/** `.env` in the working directory: variables of a project that are not in its repository, such as the API token. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ChangefeedError, messageOf } from '../errors.js';

const NAME = '.env';

/**
 * Adds the variables of `.env` to `env`. A variable that is set already keeps its value, so that what starts a service decides.
 * @throws ChangefeedError CF_CONFIG_UNLOADABLE when there is such a file and it cannot be read
 */
export function addEnvFile(cwd: string, env: Record<string, string | undefined>): void {
  const file = join(cwd, NAME);
  // A folder of this name is something else, such as a Python environment.
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return;
  for (const [name, value] of Object.entries(parseEnv(readText(file, NAME, ', or remove it')))) env[name] ??= value;
}

/** @param alternative what else the user can do */
export function readText(file: string, source: string, alternative = ''): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const message = `${source}: it cannot be read (${messageOf(cause)}). Allow this user to read it${alternative}.`;
    throw new ChangefeedError('CF_CONFIG_UNLOADABLE', { message, source, cause });
  }
}
