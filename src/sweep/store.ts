/** What a sweep needs to remember, as a port: the room that knows Redis implements it. */
import type { CreationTally, HeldCreations } from '../detect/creation.js';
import type { DriftTally, OpenDrift, PastDrift } from '../detect/drift.js';
import type { UsualPause, Staleness } from '../detect/habit.js';
import type { StoredRecord } from '../detect/known.js';
import type { HeldRemovals, Missing } from '../detect/removal.js';
import type { SchemaDelta, SchemaTally } from '../detect/schema.js';
import type { TimerChange } from '../detect/watch.js';
import type { ListName } from '../events/lists.js';
import type { ChangeEvent } from '../events/types.js';

/** Grows with every lease given out, so that whoever holds an older one can be told apart and shut out. */
export type FencingToken = string;

export type AcquireResult =
  { outcome: 'acquired'; token: FencingToken } | { outcome: 'held'; holder: FencingToken; expiresInMs: number };

/**
 * What a sweep counted so far. Every record seen is in exactly one of the words up to `withheld`, but for one that changed
 * between two looks of the same sweep, or was reported by a walk that the sweep began again: it is seen once and in both.
 */
export interface SweepCounts {
  seen: number;
  unchanged: number;
  /** Stored without an event: the list had no complete baseline yet. */
  baselined: number;
  created: number;
  edited: number;
  refreshed: number;
  /** The stamp moved, the content did not: no event, unless asked for. */
  touched: number;
  /** The content moved only in what means the same, or in what the rules leave out: no event. */
  ignored: number;
  /** Perhaps an older answer: no event until the next sweep sees it again. */
  stale: number;
  /** Moved in a way that may be a change of the schema: waits for the end of the sweep, at most of the next. */
  quarantined: number;
  /** New, and one of so many that they are withheld: neither stored nor reported. */
  withheld: number;
  /** Reported as deleted by this sweep. Not seen, of course. */
  deleted: number;
  /** Not seen, and not reported as deleted either. */
  missing: number;
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
  /** Parts committed of the page under way: its cursor is still `cursor`. Left out: 0. */
  parts?: number;
  /** The first page's identity, to notice a walk that came back to it. */
  firstPage: string | null;
  /** A baseline that yields no events, whatever the configuration says: the state before it was lost. */
  quiet?: true;
  /** True when every page is committed, and what follows from them together is not yet. */
  finishing?: true;
  /** Rule → records it kept quiet. */
  muted?: Readonly<Record<string, number>>;
  drift?: DriftTally;
  /** Pages whose members are not those of the last complete sweep. */
  changedPages?: number;
  /** Normalised base URL that the sweep reads; left out by an older release. */
  source?: string | undefined;
  /** A baseline of another source than the records known: those it does not show are dropped without an event. */
  takesOver?: true;
  /** New records so far, and whether they are withheld; in mode `changes`. */
  creations?: CreationTally;
  /** While settling: what was decided about the schema. */
  decided?: {
    drifted: readonly PastDrift[];
    past: readonly PastDrift[];
    undecided: readonly string[];
    begun?: OpenDrift['begun'];
  };
}

/** What the last complete sweep of a list left. */
export interface ListState {
  /** ISO 8601: when the baseline was complete; null before. */
  baselineAt: string | null;
  /** The state was lost: the next baseline yields no events. */
  quiet: boolean;
  lastSweep: SweepSummary | null;
}

export interface SweepSummary extends OpenDrift {
  sweepId: string;
  startedAt: string;
  completedAt: string;
  mode: Checkpoint['mode'];
  pages: number;
  counts: SweepCounts;
  /** Rule → records it kept quiet. */
  muted?: Readonly<Record<string, number>>;
  /** Removals that wait for a person (`accept-removals`). */
  heldRemovals?: HeldRemovals;
  /** New records that wait for a person (`accept-creations`). */
  heldCreations?: HeldCreations;
  /** Normalised base URL that the list was read from: its baseline is bound to it. Left out by an older release. */
  source?: string | undefined;
  /** Fields reported as a change of the schema, by this sweep or lately. */
  drifted?: readonly PastDrift[];
  /** How long the list is used to standing still; absent in what an older release wrote. */
  usualPause?: UsualPause;
  /** The list is silent far beyond its habit, or shows no records any more. */
  staleness?: Staleness;
}

/** A record as it is remembered. */
export interface SweptRecordState extends Omit<StoredRecord, 'record'> {
  /** Digest of the record's serialised text, as it came; `GONE` when it was reported as deleted. */
  digest: string;
  /** The record's JSON, as it came; null when digests alone are kept, or the record is gone. */
  image: string | null;
  /** False: its fields are not in the tally of the schema (written by an older release). */
  counted?: false;
}

/** In place of a digest: whatever comes differs from it. */
export const GONE = 'gone';

export interface RecordWrite {
  key: string;
  state: SweptRecordState;
  event: ChangeEvent | null;
  /** What follows from the event. */
  derived?: readonly ChangeEvent[];
  /** When to speak of a todo. Left out or empty: as it was. */
  timers?: readonly TimerChange[];
}

export type CommitResult =
  | { outcome: 'committed'; events: number }
  | { outcome: 'fenced'; holder: FencingToken | null }
  /** The records of the list are gone from the store. Nothing was written; the next sweep is a baseline without events. */
  | { outcome: 'lost' };

export interface PageCommit {
  token: FencingToken;
  /** Null on the page that ended the list: then the sweep is closed with `summary` in the same step. */
  checkpoint: Checkpoint | null;
  summary: SweepSummary | null;
  writes: readonly RecordWrite[];
  /** Events about the list itself. */
  events?: readonly ChangeEvent[];
  /** The members of the page, where they are not those of the last complete sweep. */
  members?: { page: number; keys: readonly string[] } | null;
  /** Members that were noted for parts of this page, by their places (`placeOfPart`): the page's own are complete now. */
  dropParts?: readonly number[];
  /** Records that wait: key → the record's JSON. */
  quarantine?: readonly (readonly [key: string, json: string])[];
  /** Records that wait no longer. */
  release?: readonly string[];
  schema?: SchemaDelta;
  /** Sequences of the events about fields. */
  schemaSequences?: readonly (readonly [field: string, sequence: number])[];
}

/** A step after the last page: what removals change. */
export interface RemovalCommit {
  token: FencingToken;
  checkpoint: Checkpoint;
  writes: readonly RecordWrite[];
  missing: readonly (readonly [key: string, entry: Missing | null])[];
  schema: SchemaDelta;
}

export interface StoredSweep {
  /** Of the sweep that was interrupted; null when there is none. */
  checkpoint: Checkpoint | null;
  /** The cursors that sweep has followed. */
  cursors: string[];
  /** A walk that will not be completed has left its pages (`resync` cut it off): to be abandoned before the next one. */
  cutOff: boolean;
  state: ListState;
}

/** Which records stood on which page. */
export interface Membership {
  /** Of the last complete sweep. */
  before: Map<number, string[]>;
  /** Of the sweep under way, where it differs. */
  changed: Map<number, string[]>;
  missing: Map<string, Missing>;
}

export interface SweepStore {
  acquire(list: ListName, ttlMs: number): Promise<AcquireResult>;
  /** False when the lease is no longer ours. */
  renew(list: ListName, token: FencingToken, ttlMs: number): Promise<boolean>;
  release(list: ListName, token: FencingToken): Promise<void>;
  load(list: ListName): Promise<StoredSweep>;
  /** Digests of the records known under these keys; null where none is. Cheap: no images. */
  digests(list: ListName, keys: readonly string[]): Promise<(string | null)[]>;
  records(list: ListName, keys: readonly string[]): Promise<(SweptRecordState | null)[]>;
  /** The members of a page in the last complete sweep, sorted; null where there was no such page. */
  members(list: ListName, page: number): Promise<string[] | null>;
  membership(list: ListName): Promise<Membership>;
  /** Keys of the records that wait. */
  quarantinedKeys(list: ListName): Promise<string[]>;
  /** Their JSON. */
  quarantined(list: ListName, keys: readonly string[]): Promise<(string | null)[]>;
  schema(list: ListName): Promise<SchemaTally>;
  /** Events about these fields so far. */
  schemaSequences(list: ListName, fields: readonly string[]): Promise<number[]>;
  /** Events of the workspace, the newest first, observed at or after a time; at most `limit` are looked at. */
  recentEvents(sinceMs: number, limit: number): Promise<ChangeEvent[]>;
  /** All of it or nothing: record states, events onto the log, the checkpoint. */
  commitPage(list: ListName, commit: PageCommit): Promise<CommitResult>;
  commitRemovals(list: ListName, commit: RemovalCommit): Promise<CommitResult>;
  /** Makes the members of these pages those of the last complete sweep, and drops other pages. */
  promotePages(
    list: ListName,
    pages: { token: FencingToken; promote: readonly number[]; drop: readonly number[] },
  ): Promise<CommitResult>;
  /** ISO 8601: records missing by then are accepted as removed; null when nobody said so. */
  removalsAcceptedAt(list: ListName): Promise<string | null>;
  /** A person accepts the removals held now: the next complete sweep reports them. Returns how many; 0 when none are held. */
  acceptRemovals(list: ListName): Promise<number>;
  /** ISO 8601: `at` of the held creations that a person has accepted last; null when none were. */
  creationsAcceptedAt(list: ListName): Promise<string | null>;
  /** A person accepts the creations held now: the next complete sweep reports them. Returns how many; 0 when none are held. */
  acceptCreations(list: ListName): Promise<number>;
  /** Gives up a sweep that can never complete (a cursor loop): the next one starts at the first page. Its records are STRAYS. */
  abandon(list: ListName, token: FencingToken): Promise<CommitResult>;
  /** Forgets the baseline: the next sweep is one. Record states and sequences stay; a sweep under way is cut off. */
  forgetBaseline(list: ListName): Promise<void>;
}
