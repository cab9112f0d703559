/** The lines of a journal: what changed in the synthetic workspace, and when a page first showed it. */
import type { CrmRecord } from '../../crm/record.js';

/** One record changed. All lines of one mutation share its number. */
export interface MutationLine {
  readonly line: 'mutation';
  /** 1, 2, 3 … in order of time. */
  readonly mutation: number;
  /** `complete-todo`, `merge-people` … */
  readonly kind: string;
  readonly list: string;
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** `follows`: only fields that the system maintains changed, because another record changed. */
  readonly cause: 'direct' | 'follows';
  /** Null: the record was created. */
  readonly before: CrmRecord | null;
  /** Null: the record was removed. */
  readonly after: CrmRecord | null;
  /**
   * ISO 8601: when a page with this change was first delivered completely (for a removal: the page that would have had the
   * record). In a file it is null, and a `visible` line follows later. It stays null if the change was overwritten unseen.
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

/** A client read a list from its first page to its end. */
export interface WalkLine {
  readonly line: 'walk';
  readonly list: string;
  readonly startedAt: string;
  readonly endedAt: string;
}

/** A user, team, form … was renamed. Records that name it show the new name, but did not change themselves. */
export interface RenameLine {
  readonly line: 'rename';
  readonly at: string;
  readonly id: string;
  readonly before: string;
  readonly after: string;
}

/** The rendering of all records changed (a key added to every row, timestamps cut …). No record changed. */
export interface RulesLine {
  readonly line: 'rules';
  readonly at: string;
  readonly rules: Readonly<Record<string, unknown>>;
}

export type JournalLine = MutationLine | VisibleLine | WalkLine | RenameLine | RulesLine;
