/** Stops a program together with its children: the process group that `detached` creates. */
import type { Clock } from '../../runtime/clock.js';

// The system does not report when a process group has ended, so it is polled.
const POLL_MS = 25;

export interface EndOptions {
  /** Between SIGTERM and SIGKILL, in ms. */
  graceMs: number;
  clock: Clock;
}

/** Sends SIGTERM to the group, and SIGKILL to what has not stopped within the grace period. */
export async function endGroup(pid: number, { graceMs, clock }: EndOptions): Promise<void> {
  signalGroup(pid, 'SIGTERM');
  const deadline = clock.now() + graceMs;
  while (clock.now() < deadline) {
    if (!signalGroup(pid, 0)) return;
    await clock.sleep(POLL_MS);
  }
  signalGroup(pid, 'SIGKILL');
}

/** False if the group has ended. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    // Windows has no process groups: only the program itself gets the signal.
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
    return true;
  } catch {
    return false;
  }
}
