/** What a decision is made from. */
import type { StoredRecord } from './known.js';
import type { UncheckedRecord } from '../crm/record.js';
import type { Rules } from './rules.js';

export interface Observation {
  workspace: string;
  /** Names a state that replaced a lost one. Sequences began again with it, and ids must not. */
  epoch?: string;
  sweep: string;
  /** The last complete sweep before this one: a second look counts only if the first was its. */
  previousSweep?: string | null;
  /** ISO 8601, UTC. */
  observedAt: string;
  /** True when another record of the same answer is certainly older than what we know: then the whole answer is doubtful. */
  lagging?: boolean;
}

/** `since`: records created or changed at or after that time (ISO 8601) are events of the first sweep, the others are not. */
export type Baseline = 'quiet' | 'emit' | { since: string };

export interface DetectInput {
  key: string;
  record: UncheckedRecord;
  /** Null when the record was never seen. */
  known: StoredRecord | null;
  /** Not null while the list's first complete sweep is under way. */
  baseline: Baseline | null;
  rules: Rules;
  observation: Observation;
  /** False: events carry field names and no contents. @defaultValue true */
  images?: boolean;
}
