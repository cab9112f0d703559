/** A program and whatever it started, as one: the process group that `detached` gives it. */
import type { Clock } from '../../runtime/clock.js';

// How often we look whether a group that was told to stop is gone; nobody tells us.
const LOOK_MS = 25;

export interface EndOptions {
  /** Between SIGTERM and SIGKILL, in ms. */
  graceMs: number;
  clock: Clock;
}

/** Tells all of the group to stop, and kills what has not stopped within the grace. */
export async function endGroup(pid: number, { graceMs, clock }: EndOptions): Promise<void> {
  signalGroup(pid, 'SIGTERM');
  const deadline = clock.now() + graceMs;
  while (clock.now() < deadline) {
    if (!signalGroup(pid, 0)) return;
    await clock.sleep(LOOK_MS);
  }
  signalGroup(pid, 'SIGKILL');
}

/** False when there is nobody left to hear it. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    // Windows knows no groups: there the program alone is meant.
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
    return true;
  } catch {
    return false;
  }
}
