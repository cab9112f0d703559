/** The stored record: its image, its decision log, and what became of it. */
import { z } from 'zod';
import type { UncheckedRecord } from '../../crm/record.js';
import { canonicalText, diffRecords, meaningOf, shortDigest, type FieldChange } from '../../crm/canonical.js';
import { modifiedAtOf, type Timestamps } from './fields.js';
import { SCHEMA_RULE, type Rules } from './rules.js';
import { movesBetween, type Transition } from './schema-drift/schema.js';

const decision = z.object({
  /** ISO 8601; of the last occurrence when the same decision was made several times in a row. */
  at: z.string(),
  sweep: z.string(),
  /** `stale` was written by the release before. */
  what: z.enum(['created', 'edited', 'refreshed', 'touched', 'muted', 'stale', 'deleted', 'discarded', 'reappeared']),
  fields: z.array(z.string()).readonly().exactOptional(),
  /** How many changed fields `fields` leaves out. */
  furtherFields: z.number().exactOptional(),
  /** The rule that muted it. */
  rule: z.string().exactOptional(),
  event: z.string().exactOptional(),
  /** Rows of a history that said who made the change. No later change is theirs. */
  rows: z.array(z.string()).readonly().exactOptional(),
  times: z.number().exactOptional(),
});
/** One decision about a record, with field names and rules but no values. */
export type Decision = z.infer<typeof decision>;

const gone = z.object({
  at: z.string(),
  modifiedAt: z.string().nullable(),
  /** Not reported, because it belonged to another source of the list. When its id is seen again, it is a new record. */
  dropped: z.literal(true).exactOptional(),
});
export type Gone = z.infer<typeof gone>;

export const storedFacts = z.object({
  /** The masks under which it is stored (`masks` of the rules). */
  masked: z.string().exactOptional(),
  /** Digest of the content before the record silently followed a change of the schema. */
  beforeDrift: z.string().exactOptional(),
  gone: gone.exactOptional(),
  /** ISO 8601: when a person's decision to discard its held removal took effect. */
  discarded: z.iso.datetime().exactOptional(),
  /** How many snapshots of the list were begun by then. Absent: 0. */
  discardedAfter: z.number().exactOptional(),
  decisions: z.array(decision).readonly().exactOptional(),
  /** ISO 8601: when the due date of a watched todo, or that it is open, was learnt. Absent: without an event. */
  dueSince: z.string().exactOptional(),
});

export interface StoredRecord extends z.infer<typeof storedFacts> {
  sequence: number;
  /** The image. Null when the record is gone. */
  record: UncheckedRecord | null;
}

const DECISIONS_KEPT = 5;

/** Its image has another form: nothing of it can be compared. */
export function isOfOtherMasks(stored: z.infer<typeof storedFacts>, { masks }: Rules): boolean {
  return stored.gone === undefined && (stored.masked ?? '') !== masks;
}

export function changesSince(stored: StoredRecord, record: UncheckedRecord, rules: Rules): FieldChange[] {
  return isOfOtherMasks(stored, rules) ? [] : diffRecords(stored.record ?? {}, record, rules);
}

/** Equal contents have equal digests. */
function contentOf(record: UncheckedRecord, rules: Rules): string {
  return shortDigest(canonicalText(record, rules));
}

/** The digest of a stored record's content; null where nothing is left of it. */
export function storedContent({ record }: StoredRecord, rules: Rules): string | null {
  return record === null ? null : contentOf(record, rules);
}

/** The fields whose value types differ from the stored ones. */
export function movesSince(stored: StoredRecord | null, record: UncheckedRecord, rules: Rules): Transition[] {
  return movesBetween(stored?.record ?? {}, record, rules);
}

export function storedModifiedAt(stored: StoredRecord, list?: Timestamps): string | null {
  if (stored.gone !== undefined) return stored.gone.modifiedAt;
  return stored.record === null ? null : modifiedAtOf(stored.record, list);
}

/** Whether the record's own time of change is another instant than the stored one. */
export function hasNewTime(stored: StoredRecord, record: UncheckedRecord, { list }: Rules): boolean {
  return meaningOf(modifiedAtOf(record, list)) !== meaningOf(storedModifiedAt(stored, list));
}

/** True when the record is again what it was before a change of the schema, which yielded no event for it. */
export function isSchemaChangeUndone(stored: StoredRecord, record: UncheckedRecord, rules: Rules): boolean {
  if (stored.decisions?.at(-1)?.rule !== SCHEMA_RULE) return false;
  return stored.beforeDrift === contentOf(record, rules);
}

/** The decision log with one more decision. The same decision without an event, repeated, only raises `times`. */
export function withDecision(log: readonly Decision[] = [], entry: Decision): readonly Decision[] {
  const last = log.at(-1);
  const same = last?.event === undefined && entry.event === undefined && last?.what === entry.what;
  if (last === undefined || !same || last.rule !== entry.rule) return [...log, entry].slice(-DECISIONS_KEPT);
  return [...log.slice(0, -1), { ...entry, times: (last.times ?? 1) + 1 }];
}

/** ISO 8601: the last decision; null when the log names none. */
export function decidedAt({ decisions = [] }: StoredRecord): string | null {
  return decisions.at(-1)?.at ?? null;
}

/** ISO 8601: when a record was first seen, or reappeared; null when the log no longer says. */
export function appearedAt({ decisions = [] }: StoredRecord): string | null {
  return decisions.findLast(({ what }) => what === 'created' || what === 'reappeared')?.at ?? null;
}
