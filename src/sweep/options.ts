/** What a sweep is given. */
import type { ReadApi } from '../api/read-api.js';
import type { CreationRules } from '../detect/creation.js';
import type { Baseline } from '../detect/detect.js';
import type { RemovalRules } from '../detect/removal.js';
import type { Rules } from '../detect/rules.js';
import type { ListName } from '../events/lists.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import type { Checkpoint, SweepStore } from './store.js';

export interface SweepDeps {
  workspace: string;
  /** Normalised base URL of the API, to which a baseline is bound. @defaultValue not bound */
  source?: string | undefined;
  api: ReadApi;
  store: SweepStore;
  clock: Clock;
  log: Log;
}

export interface SweepOptions {
  list: ListName;
  rules: Rules;
  /** What the first complete sweep says: nothing, or a snapshot event per record. */
  baseline: Baseline;
  /** False: digests alone are kept, and events carry no contents. @defaultValue true */
  images?: boolean | undefined;
  /** @defaultValue DEFAULT_REMOVALS */
  removals?: RemovalRules | undefined;
  /** Records committed by one script. @defaultValue RECORDS_PER_PART */
  recordsPerPart?: number | undefined;
  /** @defaultValue DEFAULT_CREATIONS */
  creations?: CreationRules | undefined;
  /** Names a state that replaced a lost one: part of event ids. @defaultValue none */
  epoch?: string | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: SweepProgress) => void) | undefined;
}

export interface SweepProgress {
  workspace: string;
  list: ListName;
  mode: Checkpoint['mode'];
  pages: number;
  records: number;
  /** Records the last complete sweep saw: a guess at the end; null on the first. */
  expected: number | null;
  /** The end of the list was reached with this page. */
  done: boolean;
}
