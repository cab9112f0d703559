/** The lines of a journal: what was true of the synthetic workspace, and when the list API first showed it. */
import type { CrmRecord } from '../../crm/record.js';

/** One record changed. All lines of one mutation share its number. */
export interface MutationLine {
  readonly line: 'mutation';
  /** 1, 2, 3 … in the order things happened. */
  readonly mutation: number;
  /** `complete-todo`, `merge-people` … */
  readonly kind: string;
  readonly list: string;
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** `follows`: only fields the system keeps changed, because another record did. */
  readonly cause: 'direct' | 'follows';
  /** Null: the record was created. */
  readonly before: CrmRecord | null;
  /** Null: the record was removed. */
  readonly after: CrmRecord | null;
  /**
   * ISO 8601: when a page that shows it had first been delivered whole (for a removal: a page the record would have
   * stood on). Null in a file, where a `visible` line follows once it is known; null for good if it was overwritten unseen.
   */
  readonly visibleAt: string | null;
}

export interface VisibleLine {
  readonly line: 'visible';
  readonly mutation: number;
  readonly list: string;
  readonly id: string;
  readonly at: string;
}

/** A client came from the first page of a list to its end. */
export interface WalkLine {
  readonly line: 'walk';
  readonly list: string;
  readonly startedAt: string;
  readonly endedAt: string;
}

/** A user, team, form … got another name: every record naming it shows that, none of them changed. */
export interface RenameLine {
  readonly line: 'rename';
  readonly at: string;
  readonly id: string;
  readonly before: string;
  readonly after: string;
}

/** How all records are shown changed (a key added to every row, stamps cut …): no record did. */
export interface RulesLine {
  readonly line: 'rules';
  readonly at: string;
  readonly rules: Readonly<Record<string, unknown>>;
}

export type JournalLine = MutationLine | VisibleLine | WalkLine | RenameLine | RulesLine;
