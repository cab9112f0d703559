/** What the records of a page are judged by. */
import type { RawRecord } from '../api/read-api.js';
import type { Baseline, Observation } from '../detect/detect.js';
import type { PastDrift } from '../detect/drift.js';
import type { Rules } from '../detect/rules.js';
import type { SchemaTally } from '../detect/schema.js';
import type { Checkpoint } from './store.js';

/** What a sweep carries in memory from page to page; after an interruption it is put together again. */
export interface SweepMemory {
  schema: SchemaTally;
  /** Keys of the records seen so far in this sweep. */
  seen: Set<string>;
  /** Keys of the records that wait. */
  held: Set<string>;
  /** Walks given up before have shown records that may be gone. */
  strays: boolean;
}

export interface JudgeOptions {
  records: readonly RawRecord[];
  checkpoint: Checkpoint;
  memory: SweepMemory;
  rules: Rules;
  images: boolean;
  baseline: Baseline | null;
  past: readonly PastDrift[];
  observation: Observation;
}
