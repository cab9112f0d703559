/** Whether the program of an `exec` can be started, seen before its first event. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { Obstacle } from '../handler.js';

/** The same search as the system's: a name is looked for on `PATH`, a path begins at `cwd`. Null: it can be started. */
export function programObstacle(
  { command, cwd = '.', env: added }: { command: string; cwd?: string | undefined; env: NodeJS.ProcessEnv },
  env: NodeJS.ProcessEnv,
): Obstacle | null {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    return { reason: `there is no folder ${JSON.stringify(cwd)}`, remedy: 'create it, or change cwd' };
  // Windows finds programs by further rules.
  if (process.platform === 'win32') return null;
  const name = JSON.stringify(command);
  const path = { ...env, ...added }['PATH'] ?? '';
  const candidates = command.includes('/')
    ? [resolve(cwd, command)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder), command));
  const found = candidates.filter(isFile);
  if (found.some(isExecutable)) return null;
  if (found.length > 0)
    return { reason: `the program ${name} is not executable`, remedy: `make it executable: chmod +x ${found[0]}` };
  const where = command.includes('/') ? '' : ' on PATH';
  return { reason: `there is no program ${name}${where}`, remedy: 'install it, or set command to its full path' };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
