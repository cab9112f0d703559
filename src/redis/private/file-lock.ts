/** A lock between processes: a file with the identity of its holder. The lock of a process that has ended is removed. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { ChangefeedError } from '../../errors.js';
import { systemClock } from '../../runtime/clock.js';
import { isAlive, processSchema, thisProcess, type ProcessIdentity } from '../../runtime/process-identity.js';

const WAIT_SECONDS = 90;
const RETRY_MS = 25;

/** @throws ChangefeedError CF_REDIS_UNREACHABLE if another process holds the lock for more than 90 s */
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
  while (!tryToCreate(path)) {
    const holder = readHolder(path);
    if (holder !== undefined && !isAlive(holder)) {
      removeStale(path, holder);
    } else if (systemClock.now() >= deadline) {
      throw new ChangefeedError('CF_REDIS_UNREACHABLE', {
        message:
          `${path} has been held by ${holder === undefined ? 'an unknown process' : `process ${holder.pid}`} for ` +
          `${WAIT_SECONDS} s. A process holds it while it starts or stops the private Redis. If there is no such process, ` +
          `delete the file.`,
      });
    } else {
      await systemClock.sleep(RETRY_MS);
    }
  }
}

function tryToCreate(path: string): boolean {
  try {
    writeFileSync(path, JSON.stringify(thisProcess), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Undefined if the file does not exist, or its holder has not yet written its identity. */
function readHolder(path: string): ProcessIdentity | undefined {
  try {
    return processSchema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/**
 * Under a second lock, and only if the dead process still holds the first one: another waiting process may have acquired it
 * after its holder was read here, and two processes must never hold it.
 */
function removeStale(path: string, dead: ProcessIdentity): void {
  const guard = `${path}.guard`;
  if (!tryToCreate(guard)) {
    const holder = readHolder(guard);
    if (holder !== undefined && !isAlive(holder)) rmSync(guard, { force: true });
    return;
  }
  if (isDeepStrictEqual(readHolder(path), dead)) rmSync(path, { force: true });
  rmSync(guard, { force: true });
}
