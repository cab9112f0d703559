import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { normaliseBaseUrl } from './base-url.js';

export interface StateDirOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The user's home directory. */
  home: string;
  /** Where there is no configuration file: the base URL from the environment. */
  baseUrl?: string | undefined;
}

const PROJECT_FOLDER = '.changefeed';
const CONFIG_FILES = ['ts', 'mts', 'js', 'mjs', 'json'].map((extension) => `changefeed.config.${extension}`);
const PROJECT_MARKS = [PROJECT_FOLDER, 'package.json', ...CONFIG_FILES];

/**
 * Where a private Redis lives: `CHANGEFEED_STATE_DIR`; else `.changefeed` in a project's folder (one with a configuration
 * or a package.json); else the user's state directory, so that a command tried anywhere leaves nothing behind. There, a
 * source that only the environment names has a folder of its own: all of them are the workspace `default`.
 */
export function stateDirOf({ cwd, env, home, baseUrl }: StateDirOptions): string {
  const named = env['CHANGEFEED_STATE_DIR'];
  if (named !== undefined && named !== '') return resolve(cwd, named);
  if (PROJECT_MARKS.some((mark) => existsSync(join(cwd, mark)))) return join(cwd, PROJECT_FOLDER);
  const states = env['XDG_STATE_HOME'];
  const all = join(states !== undefined && states !== '' ? states : join(home, '.local', 'state'), 'changefeed');
  return baseUrl === undefined ? all : join(all, folderOf(normaliseBaseUrl(baseUrl)));
}

/** The host is for a person who lists the folder; the digest tells apart ports, paths and schemes. */
function folderOf(source: string): string {
  const host = new URL(source).hostname.replace(/[^\w.-]/g, '');
  return `${host}-${createHash('sha256').update(source).digest('hex').slice(0, 8)}`;
}
