/** The values that a sweep exchanges with its store, and the schemas that check their JSON. */
import { z } from 'zod';
import { heldSchema, type Decided, type Held, type HeldExample } from '../detect/held.js';
import { namedFieldSchema } from '../detect/named-fields.js';
import { restlessField } from '../detect/restless.js';
import { pastDrift, type DriftedField } from '../detect/schema-drift/drift.js';
import { stalenessSchema, usualPauseSchema } from '../detect/staleness.js';
import type { StoredRecord } from '../detect/stored-record.js';
import type { Missing } from '../detect/removal.js';
import type { SchemaDelta } from '../detect/schema-drift/schema.js';
import type { Past } from '../detect/undo.js';
import { verdictSchema } from '../detect/survey.js';
import type { TimerChange } from '../detect/watch-todo.js';
import type { ChangeEvent } from '../../events/types.js';

/** Different for every lease, so that commits under an older lease are recognised and refused. */
export type FencingToken = string;

export type AcquireResult =
  /** `epoch`: of the state. A commit is refused when another state is there by then. @defaultValue 0 */
  | { outcome: 'acquired'; token: FencingToken; epoch?: number }
  | { outcome: 'held'; holder: FencingToken; expiresInMs: number };

const count = z.number();

/** A seen record is in one count up to `held`; in two when it changed in between, or an earlier pass reported it. */
const sweepCounts = z.object({
  /** Records that it has read. */
  seen: count,
  /** Equal to the stored records, or left alone because the answer is older. */
  unchanged: count,
  /** Stored without an event: the list had no complete baseline yet. */
  baselined: count,
  /** Reported as new. */
  created: count,
  /** Reported as changed by a person or an integration. */
  edited: count,
  /** Reported as changed by the system itself. */
  refreshed: count,
  /** Only `modifiedAt` changed: no event, unless the rules ask for it. */
  touched: count,
  /** The text changed, but not the meaning of any compared field: no event. */
  ignored: count,
  /** New, and neither stored nor reported because too many records are new. */
  held: count,
  /** Reported as deleted by this sweep; not seen. */
  deleted: count,
  /** Not seen, and not reported as deleted. */
  missing: count,
});
export type SweepCounts = z.infer<typeof sweepCounts>;
/** The kinds of decision about a record on a page. */
export type CountedKind = Exclude<keyof SweepCounts, 'seen' | 'deleted' | 'missing'>;

export function noCounts(): SweepCounts {
  const decided = { unchanged: 0, baselined: 0, created: 0, edited: 0, refreshed: 0, touched: 0, ignored: 0, held: 0 };
  return { seen: 0, ...decided, deleted: 0, missing: 0 };
}

const sweep = z.object({
  sweepId: z.string(),
  /** ISO 8601. */
  startedAt: z.iso.datetime(),
  /** Epoch of the state in which it began. Absent: 0. */
  epoch: count.exactOptional(),
  /** `baseline`: the list's first complete sweep, which stores records without reporting changes. */
  mode: z.enum(['baseline', 'changes']),
  /** Pages committed. */
  pages: count,
  counts: sweepCounts,
  /** Records of the longest page that does not say that the list ends there (`nextCursor: null`). */
  longestPage: count.exactOptional(),
  /** Rule → records it muted. */
  muted: z.record(z.string(), count).readonly().exactOptional(),
  /** Normalised base URL that the sweep reads. The baseline is bound to it. */
  source: z.string().optional(),
  /** The rows of the list are only recognised. */
  recognisedOnly: z.literal(true).exactOptional(),
  /** Records that cannot be read, with their page; the first few. They stay as they were. */
  unreadable: z
    .array(z.object({ page: count, id: z.string().nullable(), reason: z.string() }))
    .readonly()
    .exactOptional(),
  /** Number of all unreadable records without an id that can be read. Absent: 0. */
  unnamed: count.exactOptional(),
  /** Fields that a mask has left out, the first of them. `masks` is empty where a part of the rows was read under other masks. */
  omitted: z
    .object({ masks: z.string(), fields: z.array(z.string()).readonly() })
    .readonly()
    .exactOptional(),
});

export const checkpointSchema = sweep.extend({
  /** The cursor of the page to fetch next; null for the first. */
  cursor: z.string().nullable(),
  /** ISO 8601: when the server gave out `cursor`. Absent: no page has been read. */
  readAt: z.iso.datetime().exactOptional(),
  /** Identifies the first page, to notice cursors that lead back to it. */
  firstPage: z.string().nullable(),
  /** A baseline without events, whatever the configuration says: it is not the first one. */
  quiet: z.literal(true).exactOptional(),
  /** True when every page is committed and the sweep is being finished. */
  finishing: z.literal(true).exactOptional(),
  /** Seen records that were known before. */
  known: count.exactOptional(),
  /** The decisions of a survey, or of the last complete sweep, for this walk. */
  verdict: verdictSchema.exactOptional(),
  /** Field → rows with an edit of it; of the first fields. */
  edited: z.record(z.string(), count).readonly().exactOptional(),
  /** Pages with other members than in the last complete sweep. */
  changedPages: count.exactOptional(),
  /** Found by shortcuts during this sweep, or a moment later at an end; in `counts` too. */
  byShortcuts: count.exactOptional(),
  /** A baseline of another source: stored records it does not show are dropped without an event. */
  takesOver: z.literal(true).exactOptional(),
});

/** The position of a sweep; committed together with its last page. */
export type Checkpoint = z.infer<typeof checkpointSchema>;

export const storedPageSchema = z.object({
  /** The cursor it was requested with; null for the first page. */
  cursor: z.string().nullable(),
  nextCursor: z.string().nullable(),
  /** Digest of its bytes, or `NOT_RECOGNISED`. */
  digest: z.string(),
  /** The tag of the masks that its records were stored under. Absent: none. */
  rules: z.string().exactOptional(),
  records: count,
  /** Only for the first page: identifies it, to notice cursors that lead back to it. */
  firstPage: z.string().nullable(),
  /** Its open records, in a list that has such (detect/open.ts). */
  open: z.array(z.number().nullable()).readonly().exactOptional(),
});
/** A page has a digest only while every record is stored as shown: the same bytes then need no comparison. */
export type StoredPage = z.infer<typeof storedPageSchema>;

/** In place of the digest of a page that must be compared record by record. */
export const NOT_RECOGNISED = '';

export const summarySchema = sweep.extend({
  completedAt: z.iso.datetime(),
  /** Changes that wait for a person (`changefeed held`). */
  held: z.array(heldSchema).readonly().exactOptional(),
  /** Fields that are edited on most rows, as far as this sweep and those before say. */
  restless: z.array(restlessField).readonly().exactOptional(),
  /** What options of the list name, and no row has. */
  unmatched: z.array(namedFieldSchema).readonly().exactOptional(),
  /** Fields reported as a change of the schema by this sweep or a recent one. */
  drifted: z.array(pastDrift).readonly().exactOptional(),
  /** Changes per second that the list's walks have found, without those that its shortcuts found: a moving average. */
  foundByWalks: count.exactOptional(),
  /** The list's usual pause between changes. */
  usualPause: usualPauseSchema.exactOptional(),
  /** The list has been silent for longer than its usual pause, or is empty now. */
  staleness: stalenessSchema.exactOptional(),
});
export type SweepSummary = z.infer<typeof summarySchema>;

export const listFailureSchema = z.object({
  /** The code of the cause: `CF_UNAUTHORISED`, `CF_UNAVAILABLE` … */
  code: z.string(),
  /** States what failed, where, and what to do. No record contents, no tokens. */
  message: z.string(),
  /** The page that could not be read; null where the failure is not about a page. */
  page: count.nullable(),
  /** ISO 8601: the first failure since the last complete sweep. */
  since: z.iso.datetime(),
  /** ISO 8601: the last one. */
  at: z.iso.datetime(),
  /** Failed attempts in a row. */
  attempts: count,
  /** ISO 8601: no attempt before this time. */
  retryAt: z.iso.datetime(),
  /** The cause, if it concerns all lists: the API is away, or refuses the token. Absent if it is this list's own. */
  shared: z.string().optional(),
});
/** Why the last attempts to sweep a list failed. Kept until a sweep of the list is complete. */
export type ListFailure = z.infer<typeof listFailureSchema>;

/** A stored record as Redis keeps it: the image is JSON text, which is parsed only when the record is compared. */
export interface SerialisedRecord extends Omit<StoredRecord, 'record'> {
  /** Digest of the JSON text as received; `GONE` once reported as deleted. */
  digest: string;
  /** The record's JSON text as it was received. Null when the record is gone. */
  image: string | null;
}

export interface RecordWrite {
  key: string;
  /** Null: only a digest of the key is stored (rows.ts). */
  state: SerialisedRecord | null;
  event: ChangeEvent | null;
  /** Events derived from it. */
  derived?: readonly ChangeEvent[];
  /** Due times of a todo. Absent or empty: unchanged. */
  timers?: readonly TimerChange[];
  /** What its history keeps. Absent: nothing. */
  past?: Past;
}

export type CommitResult =
  | { outcome: 'committed'; events: number }
  | { outcome: 'fenced'; holder: FencingToken | null }
  /** The records of the list are gone from Redis. Nothing was written. The next sweep is a baseline without events. */
  | { outcome: 'lost' };

/** The writes of one step of a walk or a shortcut: all of them, or none. */
export interface Step {
  /** The position of the walk after it. Null or absent: the walk stays where it is, or `summary` closes it. */
  checkpoint?: Checkpoint | null;
  summary?: SweepSummary | null;
  writes: readonly RecordWrite[];
  /** Events about the list itself. */
  events?: readonly ChangeEvent[];
  /** Some of the new records that the summary says are held. */
  heldExamples?: readonly HeldExample[];
  /** Cursors followed since the last commit. */
  cursors?: readonly string[];
  /** The members of the page, when they differ from the last complete sweep. */
  members?: { page: number; keys: readonly string[] } | null;
  /** `stored: null`: can no longer be recognised, as its bytes may be as before while its records are not. */
  page?: { number: number; stored: StoredPage | null };
  /** Records that become missing, or are missing no longer (null). */
  missing?: readonly (readonly [key: string, entry: Missing | null])[];
  counted?: Partial<AddedCounts>;
  /** Keys of new records that the walk under way need not show, because a shortcut has created them. */
  created?: readonly string[];
  schema?: SchemaDelta;
  /** Sequences of the events about fields. */
  schemaSequences?: readonly (readonly [field: string, sequence: number])[];
  /** Fields whose drift is reported, until a complete sweep has them in its summary. */
  drifted?: readonly DriftedField[];
}

/** In the hash of a list's sweeps: how many snapshots of it were begun whose end says what is gone. */
export const SNAPSHOTS_FIELD = 'snapshots';

/** Numbers that a step adds to those of its list. */
export interface AddedCounts {
  /** New records that are reported, since the last complete sweep. */
  fresh: number;
  /** Records that are said to be discarded. */
  discarded: number;
  /** How often a record left the list, or came back to it, without an event. */
  quietly: number;
}

export interface StoredSweep {
  checkpoint: Checkpoint | null;
  /** New records that were reported since the last complete sweep. */
  fresh: number;
  cursors: string[];
  /** `resync` cut a sweep off, and its pages are still stored. It must be abandoned before the next one. */
  cutOff: boolean;
  state: {
    /** ISO 8601: when the baseline was complete; null before. */
    baselineAt: string | null;
    /** The state was lost, or a person wants another baseline. It yields no events. */
    quiet: boolean;
    lastSweep: SweepSummary | null;
    /** Fields whose drift was reported since then. */
    drifted: readonly DriftedField[];
  };
}

export interface Membership {
  /** Page → keys in the last complete sweep. */
  before: Map<number, string[]>;
  /** The same in the current sweep, for pages that differ. */
  changed: Map<number, string[]>;
  missing: Map<string, Missing>;
}

/** The pages of the last complete sweep, by what becomes of them. */
export interface FinishedPages {
  /** Pages whose new members the next sweep compares with. */
  promote: number[];
  drop: number[];
  /** Unchanged pages with a record that also came to, or left, another page, and may have looked different. */
  forget: number[];
}

/** The two ends at which a list may grow, the pages that hold a named record, and those that hold open ones. */
export type ShortcutKind = EndName | 'aimed' | 'open';
export type EndName = 'last' | 'first';

const uses = z.object({ used: count, useful: count, wrong: count });
/** How often pages of a kind were read, showed a change before the walk did, and were wrong. Only for the status. */
export type Uses = z.infer<typeof uses>;
export const NO_USES: Uses = { used: 0, useful: 0, wrong: 0 };

/** The facts that shortcuts have learned about a list. */
export const learnedSchema = z.object({
  live: z.boolean(),
  uses: z.object({ last: uses, first: uses, aimed: uses, open: uses.default(NO_USES) } satisfies Record<
    ShortcutKind,
    object
  >),
  rates: z.record(z.string(), z.object({ found: count, of: count, atMs: count })),
});
export type Learned = z.infer<typeof learnedSchema>;

/** The field of the hash of a list's sweeps that names some held new records. */
export const HELD_EXAMPLES = 'heldExamples';

export type Decision = keyof Decided;
/** The field of a list's sweep that has a decision about held records of one kind. */
export const decisionField = (decision: Decision, what: Held['what']): string => `${decision} ${what}`;
