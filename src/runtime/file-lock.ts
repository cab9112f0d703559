/** One process at a time, by a file that names its holder. The lock of a dead process is taken away from it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { ChangefeedError } from '../errors.js';
import { systemClock } from './clock.js';
import { isAlive, processSchema, thisProcess, type ProcessIdentity } from './process-identity.js';

const WAIT_SECONDS = 90;
const RETRY_MS = 25;

/** @throws ChangefeedError CF_REDIS_UNREACHABLE when another process keeps the lock for longer than we wait */
export async function withFileLock<T>(path: string, run: () => Promise<T>): Promise<T> {
  await acquire(path);
  try {
    return await run();
  } finally {
    rmSync(path, { force: true });
  }
}

async function acquire(path: string): Promise<void> {
  const deadline = systemClock.now() + WAIT_SECONDS * 1_000;
  while (!tryToTake(path)) {
    const holder = readHolder(path);
    if (holder !== undefined && !isAlive(holder)) {
      takeAway(path, holder);
    } else if (systemClock.now() >= deadline) {
      throw new ChangefeedError('CF_REDIS_UNREACHABLE', {
        message:
          `${path} has been held by ${holder === undefined ? 'an unknown process' : `process ${holder.pid}`} for ` +
          `${WAIT_SECONDS} s: it is starting or stopping the private Redis. If no such process is at work, delete the file.`,
      });
    } else {
      await systemClock.sleep(RETRY_MS);
    }
  }
}

function tryToTake(path: string): boolean {
  try {
    writeFileSync(path, JSON.stringify(thisProcess), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Undefined when the file is gone, or its holder has not yet written its name. */
function readHolder(path: string): ProcessIdentity | undefined {
  try {
    return processSchema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/**
 * Under a lock of its own, and only if the dead process still holds it: another waiting process may have taken it over
 * since we read its holder, and two must never hold it.
 */
function takeAway(path: string, dead: ProcessIdentity): void {
  const guard = `${path}.guard`;
  if (!tryToTake(guard)) {
    const holder = readHolder(guard);
    if (holder !== undefined && !isAlive(holder)) rmSync(guard, { force: true });
    return;
  }
  if (isDeepStrictEqual(readHolder(path), dead)) rmSync(path, { force: true });
  rmSync(guard, { force: true });
}
