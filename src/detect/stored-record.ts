/**
 * What is kept about a record: its image and its decision log. The image is kept whole or, with
 * `images: false`, as a fingerprint per field. Both kinds are compared with an answer in the same terms (`bothSides`).
 */
import { z } from 'zod';
import {
  type ComparedField,
  type ComparedFields,
  type FieldChange,
  diffFields,
  diffRecords,
} from '../crm/canonical.js';
import { writtenName } from '../crm/lists/descriptor.js';
import type { UncheckedRecord } from '../crm/record.js';
import { canonicalText, comparedFields, fieldDigest, memoized, shortDigest } from '../crm/canonical.js';
import { modifiedAtOf, type Timestamps } from './fields.js';
import { SCHEMA_RULE, withEveryField, type Rules } from './rules.js';
import { ABSENT, valueTypeOf } from './schema-drift/value-type.js';

const decision = z.object({
  /** ISO 8601; of the last occurrence when the same decision was made several times in a row. */
  at: z.string(),
  sweep: z.string(),
  /** `stale` was written by the release before. */
  what: z.enum(['created', 'edited', 'refreshed', 'touched', 'muted', 'stale', 'deleted', 'reappeared']),
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
/** What is kept of a deleted record: enough to recognise it when it reappears. */
export type Gone = z.infer<typeof gone>;

/** What is stored of a record besides its sequence and its content. */
export const storedFacts = z.object({
  /** With `images: false`: the record's own change time. */
  modifiedAt: z.string().nullable().exactOptional(),
  /** With `images: false`: the digest of the content. */
  content: z.string().exactOptional(),
  /** Digest of the content before the record silently followed a change of the schema. */
  beforeDrift: z.string().exactOptional(),
  gone: gone.exactOptional(),
  decisions: z.array(decision).readonly().exactOptional(),
  /** For a watched todo: ISO 8601, when its due date, or that it is open, was learnt. Absent: without an event. */
  dueSince: z.string().exactOptional(),
});

export interface StoredRecord extends z.infer<typeof storedFacts> {
  sequence: number;
  /** The image. Null when only fingerprints are kept, or the record is gone. */
  record: UncheckedRecord | null;
  /** With `images: false`: canonical field name → its fingerprint. */
  fields?: Readonly<Record<string, string>>;
}

const DECISIONS_KEPT = 5;

/** Raised when the canonical form changes. Fingerprints of another version cannot be compared and are replaced silently. */
const FINGERPRINT_VERSION = '1';

/** A field without its value. */
export interface Fingerprint {
  version: string;
  /** Digest of the canonical text in which null, absent and an empty list are equal. Null when the field is one of these. */
  meaning: string | null;
  /** Digest of the canonical text in which they differ. Null when it equals `meaning`. */
  exact: string | null;
  valueType: string;
}

/** `<version> <meaning or -> <exact or => <value type>`, independent of the rules in force. */
export function fingerprintsOf(record: UncheckedRecord, rules: Rules): Record<string, string> {
  const all = { ...withEveryField(rules), compares: () => true };
  const meanings = comparedFields(record, { ...all, nullIsAbsent: true });
  const fingerprints = [...comparedFields(record, { ...all, nullIsAbsent: false })].map(([key, { value, text }]) => {
    const meaning = meanings.get(key)?.text;
    const digests =
      meaning === undefined ? '- =' : `${fieldDigest(meaning)} ${text === meaning ? '=' : fieldDigest(text)}`;
    return [key, `${FINGERPRINT_VERSION} ${digests} ${valueTypeOf(value)}`];
  });
  // Object.fromEntries rather than assignment, because a field may be called `__proto__`.
  return Object.fromEntries(fingerprints) as Record<string, string>;
}

export function parseFingerprint(fingerprint: string): Fingerprint {
  const [version = '', meaning = '-', exact = '=', ...valueType] = fingerprint.split(' ');
  return {
    version,
    meaning: meaning === '-' ? null : meaning,
    exact: exact === '=' ? null : exact,
    valueType: valueType.join(' '),
  };
}

/** The fields in which an answer differs from the stored record: by value where an image is kept, by fingerprint where none is. */
export function changesSince(stored: StoredRecord, record: UncheckedRecord, rules: Rules): FieldChange[] {
  if (stored.fields === undefined) return diffRecords(stored.record ?? {}, record, rules);
  const isComparable = ({ version }: Fingerprint): boolean => version === FINGERPRINT_VERSION;
  if (!Object.values(stored.fields).map(parseFingerprint).every(isComparable)) return [];
  return diffFields(fingerprintSide(stored.fields, rules), fingerprintSide(fingerprintsOf(record, rules), rules));
}

function fingerprintSide(fingerprints: Readonly<Record<string, string>>, rules: Rules): ComparedFields {
  const side = new Map<string, ComparedField>();
  for (const [key, fingerprint] of Object.entries(fingerprints)) {
    const text = textUnder(rules, parseFingerprint(fingerprint));
    if (text !== null && rules.compares(key)) side.set(key, { name: key, value: undefined, canonical: text, text });
  }
  return side;
}

function textUnder({ nullIsAbsent }: Rules, { meaning, exact, valueType }: Fingerprint): string | null {
  if (nullIsAbsent) return meaning;
  // Null and an empty list have no digest. Their value types distinguish them.
  return exact ?? meaning ?? valueType;
}

/** Digest of a record's content: equal contents have equal digests. */
export function contentOf(record: UncheckedRecord, rules: Rules): string {
  return shortDigest(canonicalText(record, rules));
}

/** The same of a stored record; null where only fingerprints are left of it. */
export function storedContent({ content, record }: StoredRecord, rules: Rules): string | null {
  if (content !== undefined) return content;
  return record === null ? null : contentOf(record, rules);
}

const valueTypesCache = new WeakMap<UncheckedRecord, WeakMap<Rules, ReadonlyMap<string, string>>>();

/** The value type of every field of a record, by canonical name. */
export function valueTypesOf(record: UncheckedRecord, rules: Rules): ReadonlyMap<string, string> {
  const byRules = memoized(valueTypesCache, record, () => new WeakMap<Rules, ReadonlyMap<string, string>>());
  return memoized(byRules, rules, () => {
    const types = new Map<string, string>();
    for (const [name, value] of Object.entries(record)) {
      const type = valueTypeOf(value);
      if (type !== ABSENT) types.set(writtenName(rules.list, name.normalize('NFC'), record), type);
    }
    return types;
  });
}

export function storedValueTypes(stored: StoredRecord, rules: Rules): ReadonlyMap<string, string> {
  if (stored.fields === undefined) return valueTypesOf(stored.record ?? {}, rules);
  return new Map(Object.entries(stored.fields).map(([key, text]) => [key, parseFingerprint(text).valueType]));
}

export function storedModifiedAt(stored: StoredRecord, list?: Timestamps): string | null {
  if (stored.gone !== undefined) return stored.gone.modifiedAt;
  return stored.record === null ? (stored.modifiedAt ?? null) : modifiedAtOf(stored.record, list);
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
