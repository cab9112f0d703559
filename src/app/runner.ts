/** Runs the parts of a process once, and knows how far they are. */
import { createLifecycle, type Lifecycle, type Part } from '../runtime/lifecycle.js';

export interface Progress {
  phase: 'starting' | 'running' | 'stopping';
  /** Empty before the start. */
  roles: readonly string[];
}

export interface Runner<Role> {
  readonly progress: Progress;
  /** A second call waits for the first. */
  start(roles: readonly Role[]): Promise<void>;
  stop(): Promise<void>;
}

/** @param all the roles in the order in which events pass them: they start in reverse, so that an event that is found can be handled */
export function createRunner<Role extends string>(
  all: readonly Role[],
  partsOf: (roles: readonly Role[]) => readonly Part[],
): Runner<Role> {
  let progress: Progress = { phase: 'starting', roles: [] };
  let running: Lifecycle | undefined;
  let starting: Promise<void> | undefined;
  const start = async (roles: readonly Role[]): Promise<void> => {
    progress = { phase: 'starting', roles };
    running = createLifecycle(partsOf(all.toReversed().filter((role) => roles.includes(role))));
    await running.start();
    progress = { ...progress, phase: progress.phase === 'starting' ? 'running' : progress.phase };
  };
  return {
    get progress() {
      return progress;
    },
    start: (roles) => (starting ??= start(roles)),
    async stop() {
      progress = { ...progress, phase: 'stopping' };
      await running?.stop();
    },
  };
}
