/** The folder for the state of this machine: the data and the address of a private Redis. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { normaliseBaseUrl } from '../kit/schema/addresses.js';
import { CONFIG_FILES } from '../config/load.js';

export interface StateDirOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  /** The base URL from the environment; undefined when there is a configuration file. */
  baseUrl?: string | undefined;
}

const PROJECT_FOLDER = '.changefeed';
const PROJECT_MARKS = [PROJECT_FOLDER, 'package.json', ...CONFIG_FILES];

/** Each base URL has its own folder in the user's directory: without a file, every workspace is `default`. */
export function stateDirOf({ cwd, env, home, baseUrl }: StateDirOptions): string {
  const named = env['CHANGEFEED_STATE_DIR'];
  if (named !== undefined && named !== '') return resolve(cwd, named);
  if (PROJECT_MARKS.some((mark) => existsSync(join(cwd, mark)))) return join(cwd, PROJECT_FOLDER);
  const states = env['XDG_STATE_HOME'];
  const all = join(states !== undefined && states !== '' ? states : join(home, '.local', 'state'), 'changefeed');
  return baseUrl === undefined ? all : join(all, folderOf(normaliseBaseUrl(baseUrl)));
}

/** The host makes the folder recognisable in a listing; the digest distinguishes ports, paths and schemes. */
function folderOf(source: string): string {
  const host = new URL(source).hostname.replace(/[^\w.-]/g, '');
  return `${host}-${createHash('sha256').update(source).digest('hex').slice(0, 8)}`;
}
