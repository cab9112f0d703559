/** What the planner learns of the list from its pages, whoever read them. */
import type { OpenRecords } from '../../detect/open.js';

export interface PageAnswer {
  keys: readonly string[];
  created: readonly string[];
  rewritten: readonly string[];
  /** Records that differ and are left to the walk. */
  left: number;
  /** It shows a record that is older than its stored record. */
  isOutdated: boolean;
  nextCursor: string | null;
  open: OpenRecords;
}

export interface WalkAnswer {
  page: number;
  /** New records. */
  created: number;
  /** Known records that had changed. */
  changed: number;
  open: OpenRecords;
}

export interface CompleteSweep {
  pages: number;
  /** Ms since the epoch, as the next. */
  startedMs: number;
  completedMs: number;
  lastCursor: string | null | undefined;
}
