/** What a run records for judge.ts. */
import type { SchemaTally } from '../../src/feed/detect/schema-drift/schema.js';
import type { CrmRecord } from '../../src/crm/record.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { JournalLine } from '../../sandbox/journal/lines.js';
import type { Membership, SerialisedRecord, StoredSweep, SweepSummary } from '../../src/feed/store/sweep-state.js';
import type { Scenario } from './scenario.js';

export interface CompleteSweep {
  sweepId: string;
  mode: 'baseline' | 'changes';
  startedAt: number;
  endedAt: number;
  hidden: ReadonlySet<string>;
  summary: SweepSummary;
}

/** An event that some process was about to write, whether or not the write took effect. */
export interface IntendedEvent {
  event: ChangeEvent;
  /** The record as this process last received it from the API. */
  shown: CrmRecord | null;
}

export interface RunRecord {
  scenario: Scenario;
  journal: readonly JournalLine[];
  events: readonly ChangeEvent[];
  intended: readonly IntendedEvent[];
  sweeps: readonly CompleteSweep[];
  /** Periods in which the next complete sweep is a baseline; ms. */
  baselines: readonly { from: number; to: number }[];
  driftedAt: readonly number[];
  unexpected: readonly string[];
  end: {
    truth: ReadonlyMap<string, CrmRecord>;
    records: ReadonlyMap<string, SerialisedRecord>;
    membership: Membership;
    stored: StoredSweep;
    schema: SchemaTally;
  };
}
