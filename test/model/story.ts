/** What a run leaves behind for its judge. */
import type { SchemaTally } from '../../src/detect/schema-drift/schema.js';
import type { CrmRecord } from '../../src/crm/record.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { JournalLine } from '../../src/sandbox/journal/lines.js';
import type { Membership, SerialisedRecord, StoredSweep, SweepSummary } from '../../src/sweep/store.js';
import type { Scenario } from './scenario.js';

export interface CompleteSweep {
  sweepId: string;
  mode: 'baseline' | 'changes';
  /** ms */
  startedAt: number;
  endedAt: number;
  /** Ids of records that this sweep was not shown although they were there. */
  hidden: ReadonlySet<string>;
  summary: SweepSummary;
}

/** An event that some process meant to write, whether or not it came to that. */
export interface Meant {
  event: ChangeEvent;
  /** The record as the API had last shown it to this process. */
  shown: CrmRecord | null;
}

export interface Story {
  scenario: Scenario;
  journal: readonly JournalLine[];
  /** The log, in its order. */
  events: readonly ChangeEvent[];
  meant: readonly Meant[];
  sweeps: readonly CompleteSweep[];
  /** From when to when the next complete sweep was to learn in silence; ms. */
  baselines: readonly { from: number; to: number }[];
  /** When the schema was changed; ms. */
  driftedAt: readonly number[];
  /** What no sweep may end with. */
  surprises: readonly string[];
  end: {
    /** What is true of the list now, as it is shown to all. */
    truth: ReadonlyMap<string, CrmRecord>;
    known: ReadonlyMap<string, SerialisedRecord>;
    membership: Membership;
    held: readonly string[];
    stored: StoredSweep;
    schema: SchemaTally;
  };
}
