/** The dependencies and options of a sweep, and what its steps share. */
import type { ReadApi } from '../api/read-api.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { CreationRules } from '../detect/creation.js';
import type { Observation } from '../detect/build-event.js';
import type { Baseline } from '../detect/detect.js';
import type { RemovalRules } from '../detect/removal.js';
import type { Rules } from '../detect/rules.js';
import type { TrackedFields } from '../detect/schema-drift/schema.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import type { Log } from '../../kit/log.js';
import type { Checkpoint, FencingToken, SweepSummary } from '../store/sweep-state.js';
import type { SweepStore } from '../store/sweep-store.js';

export interface SweepDeps {
  workspace: string;
  /** Normalised base URL of the API; a baseline is bound to it. @defaultValue not bound */
  source?: string | undefined;
  api: ReadApi;
  store: SweepStore;
  clock: Clock;
  log: Log;
}

export interface SweepOptions {
  list: ListName;
  rules: Rules;
  /** Which events the first complete sweep emits. */
  baseline: Baseline;
  /** @defaultValue DEFAULT_REMOVALS */
  removals?: RemovalRules | undefined;
  /** The most pages requested ahead of the walk; 0: one page after another. @defaultValue PAGES_AHEAD */
  pagesAhead?: number | undefined;
  /** @defaultValue DEFAULT_CREATIONS */
  creations?: CreationRules | undefined;
  /** The epoch of the state that the lease was got in. Set by `withLease`. @defaultValue 0 */
  epoch?: number | undefined;
  /** The last attempt failed, which was logged: that this one resumes it is no news. @defaultValue false */
  again?: boolean | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: SweepProgress) => void) | undefined;
}

export interface SweepProgress {
  workspace: string;
  list: ListName;
  mode: Checkpoint['mode'];
  pages: number;
  records: number;
  /** Records that the last complete sweep saw, as an estimate of the total. Null on the first sweep. */
  expected: number | null;
  done: boolean;
}

export interface PageToRead {
  /** Number of the page within the sweep, from 1. */
  page: number;
  cursor: string | null;
}

export interface FinishStep {
  checkpoint: Checkpoint;
  token: FencingToken;
  lastSweep: SweepSummary | null;
  tracked: TrackedFields;
}

/** The list has kept its records in another form than the one it keeps them in now: it needs another baseline. */
export function isOtherForm(
  lastSweep: SweepSummary | null,
  { recognisedOnly }: Pick<Rules, 'recognisedOnly'>,
): boolean {
  return lastSweep !== null && (lastSweep.recognisedOnly ?? false) !== recognisedOnly;
}

export function observationOf(
  { workspace, clock }: Pick<SweepDeps, 'workspace' | 'clock'>,
  { epoch }: Pick<SweepOptions, 'epoch'>,
  { sweepId }: Pick<Checkpoint, 'sweepId'>,
): Observation {
  return {
    workspace,
    sweep: sweepId,
    observedAt: isoTime(clock.now()),
    ...(epoch !== undefined && { epoch }),
  };
}
