/** One process at a time, by a file that names its holder. The lock of a dead process is taken away from it. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { ChangefeedError } from '../errors.js';
import { formatDuration } from './duration.js';
import { systemClock, type Clock } from './clock.js';
import { isAlive, thisProcess, type ProcessIdentity } from './process-identity.js';

export interface FileLockOptions {
  path: string;
  /** How long to wait for another holder, in ms. @defaultValue 90000 */
  waitMs?: number;
  clock?: Clock;
}

const holderSchema = z.object({ pid: z.number(), token: z.string() });
const LOOK_AGAIN_MS = 25;

/** @throws ChangefeedError CF_REDIS_UNREACHABLE when another process keeps the lock for longer than we wait */
export async function withFileLock<T>(options: FileLockOptions, run: () => Promise<T>): Promise<T> {
  await acquire(options);
  try {
    return await run();
  } finally {
    rmSync(options.path, { force: true });
  }
}

async function acquire({ path, waitMs = 90_000, clock = systemClock }: FileLockOptions): Promise<void> {
  const deadline = clock.now() + waitMs;
  while (!tryToTake(path)) {
    const holder = readHolder(path);
    if (holder !== undefined && !isAlive(holder)) {
      takeAway(path);
    } else if (clock.now() >= deadline) {
      throw new ChangefeedError('CF_REDIS_UNREACHABLE', {
        message:
          `${path} has been held by ${holder === undefined ? 'an unknown process' : `process ${holder.pid}`} for ` +
          `${formatDuration(waitMs)}: it is starting or stopping the private Redis. If no such process is at work, delete the file.`,
      });
    } else {
      await clock.sleep(LOOK_AGAIN_MS);
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
    return holderSchema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** By renaming, which only one of several waiting processes can do. */
function takeAway(path: string): void {
  const aside = `${path}.${thisProcess.token}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  rmSync(aside, { force: true });
}
