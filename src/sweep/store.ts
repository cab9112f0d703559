/** What a sweep needs to remember, as a port: the room that knows Redis implements it. */
import type { ListName } from '../events/lists.js';
import type { ChangeEvent } from '../events/types.js';

/** Grows with every lease given out, so that whoever holds an older one can be told apart and shut out. */
export type FencingToken = string;

export type AcquireResult =
  { outcome: 'acquired'; token: FencingToken } | { outcome: 'held'; holder: FencingToken; expiresInMs: number };

/** What a sweep counted so far. Every record seen is in exactly one of the others. */
export interface SweepCounts {
  seen: number;
  unchanged: number;
  /** Stored without an event: the list had no complete baseline yet. */
  baselined: number;
  created: number;
  edited: number;
  refreshed: number;
  /** The stamp moved, the content did not: no event. */
  touched: number;
  /** The content moved only in what the rules ignore: no event. */
  ignored: number;
}

/** Where a sweep stands; committed with the page it follows. */
export interface Checkpoint {
  sweepId: string;
  /** ISO 8601. */
  startedAt: string;
  /** `baseline`: the list's first complete look, which stores and says nothing. */
  mode: 'baseline' | 'changes';
  /** The cursor of the page to fetch next; null for the first. */
  cursor: string | null;
  /** Pages committed. */
  pages: number;
  counts: SweepCounts;
  /** The first page's identity, to notice a walk that came back to it. */
  firstPage: string | null;
}

/** What the last complete sweep of a list left. */
export interface ListState {
  /** ISO 8601: when the baseline was complete; null before. */
  baselineAt: string | null;
  lastSweep: SweepSummary | null;
}

export interface SweepSummary {
  sweepId: string;
  startedAt: string;
  completedAt: string;
  mode: Checkpoint['mode'];
  pages: number;
  counts: SweepCounts;
}

/** A record as it is remembered. */
export interface RecordState {
  /** Digest of the record's serialised text, as it came. */
  digest: string;
  /** Number of events so far. */
  sequence: number;
  /** The record's JSON, as it came. */
  image: string;
}

export interface RecordWrite {
  key: string;
  state: RecordState;
  event: ChangeEvent | null;
}

export type CommitResult =
  { outcome: 'committed'; events: number } | { outcome: 'fenced'; holder: FencingToken | null };

export interface PageCommit {
  token: FencingToken;
  /** Null on the page that ended the list: then the sweep is closed with `summary` in the same step. */
  checkpoint: Checkpoint | null;
  summary: SweepSummary | null;
  writes: readonly RecordWrite[];
}

export interface StoredSweep {
  /** Of the sweep that was interrupted; null when there is none. */
  checkpoint: Checkpoint | null;
  /** The cursors that sweep has followed. */
  cursors: string[];
  state: ListState;
}

export interface SweepStore {
  acquire(list: ListName, ttlMs: number): Promise<AcquireResult>;
  /** False when the lease is no longer ours. */
  renew(list: ListName, token: FencingToken, ttlMs: number): Promise<boolean>;
  release(list: ListName, token: FencingToken): Promise<void>;
  load(list: ListName): Promise<StoredSweep>;
  /** Digests of the records known under these keys; null where none is. Cheap: no images. */
  digests(list: ListName, keys: readonly string[]): Promise<(string | null)[]>;
  records(list: ListName, keys: readonly string[]): Promise<(RecordState | null)[]>;
  /** All of it or nothing: record states, events onto the log, the checkpoint. */
  commitPage(list: ListName, commit: PageCommit): Promise<CommitResult>;
  /** Gives up a sweep that can never complete (a cursor loop): the next one starts at the first page. */
  abandon(list: ListName, token: FencingToken): Promise<void>;
  /** Forgets the baseline: the next sweep is one. Record states and sequences stay. */
  forgetBaseline(list: ListName): Promise<void>;
}
