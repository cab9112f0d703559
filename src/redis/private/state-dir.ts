/** The state directory and what lies in it belong to this user alone, or nothing there is read or joined. */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ChangefeedError, messageOf } from '../../kit/errors.js';
import { readOwnFile } from '../../kit/own-file.js';

const OTHERS_WRITE = 0o022;

/**
 * Refused rather than tightened: others may already have put an address of their own there.
 * @throws ChangefeedError CF_STATE_DIR
 */
export function prepareStateDir(dir: string): void {
  withStateDir(dir, () => mkdirSync(dir, { recursive: true, mode: 0o700 }));
  const { mode, uid } = statSync(dir);
  const user = process.getuid?.();
  if (user === undefined) return;
  if (uid !== user) throw unsafe(dir, 'belongs to another user');
  // A sticky folder such as /tmp is for everyone.
  const own = (mode & 0o1000) === 0 ? ` Or, if nobody else has written there: chmod go-w ${dir}` : '';
  if ((mode & OTHERS_WRITE) !== 0) throw unsafe(dir, 'is one in which others may write', own);
}

/** Undefined: there is no such file. @throws ChangefeedError CF_STATE_DIR */
export function readStateFile(path: string): string | undefined {
  const text = readOwnFile(path);
  if (text !== null) return text;
  throw refused(
    `${path} belongs to another user, or others may read or write it. It was not used. Remove it, or, if it is yours: chmod 600 ${path}`,
  );
}

/** Gives errors of the file system the folder and what to do. Node reports a read-only one as ENOENT. */
export function withStateDir<T>(dir: string, use: () => T): T {
  try {
    return use();
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause)) throw cause;
    const message = `The state directory ${dir} cannot be written (${messageOf(cause)}). Free space on its disk, or set CHANGEFEED_STATE_DIR to a folder in which this user may write.`;
    throw new ChangefeedError('CF_STATE_DIR', { message, cause });
  }
}

function unsafe(dir: string, why: string, more = ''): ChangefeedError {
  return refused(
    `The state directory ${dir} ${why}. Set CHANGEFEED_STATE_DIR to a folder of this user, such as ${join(dir, 'changefeed')}; it is created.${more}`,
  );
}

const refused = (message: string): ChangefeedError => new ChangefeedError('CF_STATE_DIR', { message });
