/**
 * The lock of the file of rules. Its holder needs a few milliseconds. A lock whose process has ended, or that is older than a save can last, is
 * removed by the next saver: a kill at any step holds up the others for seconds at most.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  type BigIntStats,
} from 'node:fs';
import { hostname } from 'node:os';
import { systemClock } from '../kit/clock.js';

const STALE_MS = 3_000;
const PATIENCE_MS = 15_000;
const RETRY_MS = 10;
const QUIETLY = { bigint: true, throwIfNoEntry: false } as const;

/** Whether the lock is still held: it is not after this process was suspended for long. */
export type Held = () => boolean;

/** @returns what the work returns; null when others have held the lock all the time */
export async function withLock<Result>(path: string, work: (held: Held) => Result): Promise<Result | null> {
  const lock = `${path}.lock`;
  const deadline = systemClock.monotonic() + PATIENCE_MS;
  for (;;) {
    const own = take(lock);
    if (own !== null) {
      const held = (): boolean => instanceOf(lstatSync(lock, QUIETLY)) === own;
      try {
        return work(held);
      } finally {
        if (held()) rmSync(lock);
      }
    }
    removeStale(lock);
    if (systemClock.monotonic() >= deadline) return null;
    await systemClock.sleep(RETRY_MS);
  }
}

/** @returns what tells this lock from any other; null: there is one */
function take(lock: string): string | null {
  let file: number;
  try {
    // Exclusive: a link of this name is not followed.
    file = openSync(lock, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return null;
  }
  try {
    writeFileSync(file, JSON.stringify({ pid: process.pid, host: hostname() }));
    return instanceOf(fstatSync(file, { bigint: true }));
  } finally {
    closeSync(file);
  }
}

/** An inode alone may be that of a file that was removed before. */
function instanceOf(found: BigIntStats | undefined): string {
  return found === undefined ? '' : `${found.ino}-${found.mtimeNs}`;
}

/** Of those that find it stale, one removes it: another one could remove the lock that was taken next. */
function removeStale(lock: string): void {
  if (!isStale(lock)) return;
  const removing = `${lock}.stale`;
  if (take(removing) === null) {
    if (isOld(removing)) rmSync(removing, { force: true });
    return;
  }
  try {
    if (isStale(lock)) rmSync(lock, { force: true });
  } finally {
    rmSync(removing, { force: true });
  }
}

function isStale(lock: string): boolean {
  return isOld(lock) || hasEnded(lock);
}

/** Older than a save lasts, or from the future: a clock was set. */
function isOld(file: string): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found !== undefined && Math.abs(systemClock.now() - found.mtimeMs) > STALE_MS;
}

/** Known of a process on this machine only: that of another container has an id that means nothing here. */
function hasEnded(lock: string): boolean {
  let text: string;
  try {
    const file = openSync(lock, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      text = readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
  const [, pid, host] = /^\{"pid":(\d{1,10}),"host":"([^"]*)"\}$/.exec(text) ?? [];
  if (pid === undefined || host !== hostname()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    // EPERM: it is alive and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
