/** What the records of a page are judged by. */
import type { UncheckedRecord } from '../crm/record.js';
import type { CreationGuard } from '../detect/creation.js';
import type { Baseline, Observation } from '../detect/detect.js';
import type { PastDrift } from '../detect/drift.js';
import type { Rules } from '../detect/rules.js';
import type { SchemaTally, TrackedFields } from '../detect/schema.js';
import type { Checkpoint } from './store.js';

/** What a sweep carries in memory from page to page; after an interruption it is put together again. */
export interface SweepMemory {
  schema: SchemaTally;
  /** The fields the tally of the schema counts. */
  tracked: TrackedFields;
  /** Keys of the records seen so far in this sweep. */
  seen: Set<string>;
  /** Those of them seen on the page under way, by parts of it that are committed. */
  partly: Set<string>;
  /** Keys of the records that wait. */
  held: Set<string>;
  /** Walks given up before have shown records that may be gone. */
  strays: boolean;
}

export interface JudgeOptions {
  records: readonly UncheckedRecord[];
  checkpoint: Checkpoint;
  memory: SweepMemory;
  rules: Rules;
  images: boolean;
  baseline: Baseline | null;
  past: readonly PastDrift[];
  /** Null: new records are not guarded, as in a baseline. */
  guard: CreationGuard | null;
  /** The list ends with this page. */
  ended: boolean;
  observation: Observation;
  /** Records committed by one script. @defaultValue RECORDS_PER_PART */
  recordsPerPart?: number | undefined;
}
