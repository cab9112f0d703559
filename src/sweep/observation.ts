/** How a sweep observes: what its events say of the time, the sweep and the state they belong to. */
import type { Observation } from '../detect/detect.js';
import { isoTime } from '../runtime/clock.js';
import type { SweepDeps, SweepOptions } from './options.js';
import type { Checkpoint, SweepSummary } from './store.js';

export function observationOf(
  { workspace, clock }: Pick<SweepDeps, 'workspace' | 'clock'>,
  { epoch }: Pick<SweepOptions, 'epoch'>,
  { checkpoint, lastSweep }: { checkpoint: Pick<Checkpoint, 'sweepId'>; lastSweep: SweepSummary | null },
): Observation {
  return {
    workspace,
    sweep: checkpoint.sweepId,
    previousSweep: lastSweep?.sweepId ?? null,
    observedAt: isoTime(clock.now()),
    ...(epoch !== undefined && { epoch }),
  };
}
