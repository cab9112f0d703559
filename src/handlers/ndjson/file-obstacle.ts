/** Whether the file of an `ndjson` can be written, seen before its first event. */
import { accessSync, constants, lstatSync, statSync, type Stats } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Null: it can be written, or created. */
export function fileObstacle(path: string): { reason: string; remedy: string } | null {
  const file = resolve(path);
  const found = entryAt(file);
  if (found?.isSymbolicLink() === true)
    return { reason: `${path} is a symbolic link`, remedy: 'set path to the file itself' };
  if (found?.isDirectory() === true) return { reason: `${path} is a folder`, remedy: 'set path to the name of a file' };
  const existing = found === undefined ? existingAbove(file) : file;
  if (found === undefined && !statSync(existing).isDirectory())
    return { reason: `${existing} is not a folder`, remedy: 'change path' };
  const needed = found === undefined ? constants.W_OK | constants.X_OK : constants.R_OK | constants.W_OK;
  if (mayAccess(existing, needed)) return null;
  return {
    reason: `${existing} cannot be written`,
    remedy: 'allow the user of this process to write there, or change path',
  };
}

function existingAbove(path: string): string {
  const above = dirname(path);
  return entryAt(above) === undefined ? existingAbove(above) : above;
}

/** A part of the path may be a file, or a folder that this user may not search. */
function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function mayAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
