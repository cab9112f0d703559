import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface StateDirOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The user's home directory. */
  home: string;
}

const PROJECT_FOLDER = '.changefeed';
const CONFIG_FILES = ['ts', 'mts', 'js', 'mjs', 'json'].map((extension) => `changefeed.config.${extension}`);
const PROJECT_MARKS = [PROJECT_FOLDER, 'package.json', ...CONFIG_FILES];

/**
 * Where a Redis of our own lives: `CHANGEFEED_STATE_DIR`; else `.changefeed` in a project's folder (one with a
 * configuration or a package.json); else the user's state directory, so that a command tried anywhere leaves nothing lying about.
 */
export function stateDirOf({ cwd, env, home }: StateDirOptions): string {
  const named = env['CHANGEFEED_STATE_DIR'];
  if (named !== undefined && named !== '') return resolve(cwd, named);
  if (PROJECT_MARKS.some((mark) => existsSync(join(cwd, mark)))) return join(cwd, PROJECT_FOLDER);
  const states = env['XDG_STATE_HOME'];
  return join(states !== undefined && states !== '' ? states : join(home, '.local', 'state'), 'changefeed');
}
