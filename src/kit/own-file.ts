/** Files in the state folder that hold a secret: of this user, and not for others to read. */
import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Undefined: there is no such file. Null: another user could have read or written it. */
export function readOwnFile(path: string): string | null | undefined {
  let file: number;
  try {
    // No link: it could lead to a file that somebody else writes. A pipe is not waited for.
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (['ELOOP', 'EACCES'].includes(code)) return null;
    throw error;
  }
  try {
    const stats = fstatSync(file);
    const user = process.getuid?.();
    const isOurs = user === undefined || (stats.uid === user && (stats.mode & 0o077) === 0);
    return isOurs && stats.isFile() ? readFileSync(file, 'utf8') : null;
  } finally {
    closeSync(file);
  }
}

/** Writes a file that did not exist; of several processes the first one does. @returns what it then holds */
export function makeOwnFile(path: string, text: string): string {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readOwnFile(path) ?? text;
}
