/** Who holds a file on disk, and whether that process still lives. */
import { randomUUID } from 'node:crypto';

export interface ProcessIdentity {
  pid: number;
  /** Random per process: in a container every process of ours may be number 1. */
  token: string;
}

export const thisProcess: ProcessIdentity = { pid: process.pid, token: randomUUID() };

/**
 * A process that got the number of a dead one counts as alive: then we wait or join where we could have taken over,
 * which is the lesser harm.
 */
export function isAlive({ pid, token }: ProcessIdentity): boolean {
  if (pid === thisProcess.pid) return token === thisProcess.token;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
