/** What is remembered of a record beside its image, and the two ways an image is kept: whole, or as digests of its fields. */
import type { CanonicalField, CanonicalFields } from '../crm/canonical.js';
import { writtenName } from '../crm/fields.js';
import { canonicalFields, textOf } from './canonical.js';
import { digestOf } from './digest.js';
import { modifiedAtOf } from './fields.js';
import { ABSENT, valueTypeOf } from './form.js';
import type { UncheckedRecord } from '../crm/record.js';
import { SCHEMA_RULE, withEveryField, type Rules } from './rules.js';
import { workedOut } from './worked-out.js';

/** An answer that may be older than what we know. It becomes a change when a later sweep sees it again. */
export interface Doubt {
  /** Digest of the content that was shown. */
  content: string;
  /** The sweep that saw it last. */
  sweep: string;
  /** Sweeps in a row that saw something suspect. */
  sightings: number;
  /** Of a record that came back: this content is doubted no more, but was withheld with many other new records. */
  certain?: true;
}

/** One decision about a record. Field names and rules, never values. */
export interface Decision {
  /** ISO 8601: of the last one, where it came several times in a row. */
  at: string;
  sweep: string;
  what: DecisionKind;
  fields?: readonly string[];
  /** How many more there were than `fields` names. */
  furtherFields?: number;
  /** The rule that kept it quiet. */
  rule?: string;
  event?: string;
  times?: number;
}
export type DecisionKind =
  'created' | 'edited' | 'refreshed' | 'touched' | 'muted' | 'stale' | 'deleted' | 'reappeared';

/** What is kept of a record that was reported as deleted: enough to know it again. */
export interface Gone {
  at: string;
  modifiedAt: string | null;
  content: string;
  /** Not reported: it belonged to another source of the list. When its id comes again, it is a new record. */
  dropped?: true;
}

export interface StoredRecord {
  sequence: number;
  /** The image; null when digests alone are kept, or the record is gone. */
  record: UncheckedRecord | null;
  /** With `images: false`: canonical field name → its print. */
  fields?: Readonly<Record<string, string>>;
  /** With `images: false`: the record's own change time. */
  modifiedAt?: string | null;
  /** Digests of the contents before this one, the newest first. */
  earlier?: readonly string[];
  doubt?: Doubt;
  gone?: Gone;
  decisions?: readonly Decision[];
  /** Of a watched todo: ISO 8601, when its due date, or that it is open, was learnt. Left out: with the baseline. */
  dueSince?: string;
}

const EARLIER_KEPT = 3;
const TRAIL_KEPT = 5;

/** Changes of the canonical form change every print: those of another form say nothing, and are learnt anew in silence. */
const PRINT_FORM = '2';
/** Its first form had no `exact`: what it meant depended on the rules of its day. */
const FIRST_FORM = '1';

/** A field without its value. */
export interface Fingerprint {
  version: string;
  /** Digest of the canonical text where null, absent and an empty list mean the same; null where the field is one of these. */
  meaning: string | null;
  /** Where they do not: the digest that differs, by a null further in. */
  exact: string | null;
  valueType: string;
}

/** `<form version> <meaning or -> <exact or => <form>`: what it says holds under any rules. */
export function fingerprintsOf(record: UncheckedRecord, rules: Rules): Record<string, string> {
  const all = { ...withEveryField(rules), compares: () => true };
  const meanings = canonicalFields(record, { ...all, nullIsAbsent: true });
  const prints = [...canonicalFields(record, { ...all, nullIsAbsent: false })].map(([key, { value, text }]) => {
    const meaning = meanings.get(key)?.text;
    const digests =
      meaning === undefined ? '- =' : `${shortDigest(meaning)} ${text === meaning ? '=' : shortDigest(text)}`;
    return [key, `${PRINT_FORM} ${digests} ${valueTypeOf(value)}`];
  });
  // Not by assignment: a field may be called `__proto__`.
  return Object.fromEntries(prints) as Record<string, string>;
}

export function parseFingerprint(print: string): Fingerprint {
  const [version = '', meaning = '-', ...rest] = print.split(' ');
  const [exact, form] = version === FIRST_FORM ? ['=', rest.join(' ')] : [rest[0] ?? '=', rest.slice(1).join(' ')];
  return { version, meaning: meaning === '-' ? null : meaning, exact: exact === '=' ? null : exact, valueType: form };
}

export function shortDigest(text: string): string {
  return digestOf(text).slice(0, 11);
}

/** Both images of a record in the same terms: values where the old one has them, prints where it has not. */
export function bothSides(
  known: StoredRecord,
  record: UncheckedRecord,
  rules: Rules,
): [before: CanonicalFields, after: CanonicalFields] {
  if (known.fields === undefined) return [canonicalFields(known.record ?? {}, rules), canonicalFields(record, rules)];
  if (!Object.values(known.fields).every((print) => parseFingerprint(print).version === PRINT_FORM)) {
    const after = canonicalFields(record, rules);
    return [after, after];
  }
  return [sideOfPrints(known.fields, rules), sideOfPrints(fingerprintsOf(record, rules), rules)];
}

function sideOfPrints(prints: Readonly<Record<string, string>>, rules: Rules): CanonicalFields {
  const side = new Map<string, CanonicalField>();
  for (const [key, print] of Object.entries(prints)) {
    const text = textUnder(rules, parseFingerprint(print));
    if (text !== null && rules.compares(key)) side.set(key, { name: key, value: null, text });
  }
  return side;
}

function textUnder({ nullIsAbsent }: Rules, { meaning, exact, valueType: form }: Fingerprint): string | null {
  if (nullIsAbsent) return meaning;
  // Null and an empty list have no digest; their forms tell them apart.
  return exact ?? meaning ?? form;
}

/** What a side holds, as one short digest: equal contents have equal ones. */
export function contentOf(side: CanonicalFields): string {
  return shortDigest(textOf(side));
}

/** The form of every field of a record, by canonical name. */
export function valueTypesOf(record: UncheckedRecord, rules: Rules): ReadonlyMap<string, string> {
  const byRules = workedOut(formed, record, () => new WeakMap<Rules, ReadonlyMap<string, string>>());
  return workedOut(byRules, rules, () => readForms(record, rules));
}

const formed = new WeakMap<UncheckedRecord, WeakMap<Rules, ReadonlyMap<string, string>>>();

function readForms(record: UncheckedRecord, rules: Rules): ReadonlyMap<string, string> {
  const forms = new Map<string, string>();
  for (const [name, value] of Object.entries(record)) {
    const form = valueTypeOf(value);
    if (form !== ABSENT) forms.set(writtenName(rules.list, name.normalize('NFC'), record), form);
  }
  return forms;
}

export function storedValueTypes(known: StoredRecord, rules: Rules): ReadonlyMap<string, string> {
  if (known.fields === undefined) return valueTypesOf(known.record ?? {}, rules);
  return new Map(Object.entries(known.fields).map(([key, print]) => [key, parseFingerprint(print).valueType]));
}

export function storedModifiedAt(known: StoredRecord): string | null {
  if (known.gone !== undefined) return known.gone.modifiedAt;
  return known.record === null ? (known.modifiedAt ?? null) : modifiedAtOf(known.record);
}

/** A change of the schema, of which nobody was told, is undone: the record is again just what it was before. */
export function isSchemaUndone(known: StoredRecord, record: UncheckedRecord, rules: Rules): boolean {
  if (known.decisions?.at(-1)?.rule !== SCHEMA_RULE) return false;
  const [, after] = bothSides(known, record, rules);
  return known.earlier?.[0] === contentOf(after);
}

/** The contents before the next one, when the present one becomes one of them. */
export function earlierWith(known: StoredRecord, content: string): readonly string[] {
  return [content, ...(known.earlier ?? []).filter((one) => one !== content)].slice(0, EARLIER_KEPT);
}

/** The trail with one more decision; the same decision again only counts up. */
export function withDecision(trail: readonly Decision[] = [], entry: Decision): readonly Decision[] {
  const last = trail.at(-1);
  const same = last?.event === undefined && entry.event === undefined && last?.what === entry.what;
  if (last === undefined || !same || last.rule !== entry.rule) return [...trail, entry].slice(-TRAIL_KEPT);
  return [...trail.slice(0, -1), { ...entry, times: (last.times ?? 1) + 1 }];
}

/** ISO 8601: when the last event of a record was seen to happen; null when it never had one. */
export function lastEventAt({ decisions: trail = [] }: StoredRecord): string | null {
  return trail.findLast(({ event }) => event !== undefined)?.at ?? null;
}

/** ISO 8601: when a record was first seen, or seen again after it was gone; null when that is long ago. */
export function appearedAt({ decisions: trail = [] }: StoredRecord): string | null {
  return trail.findLast(({ what }) => what === 'created' || what === 'reappeared')?.at ?? null;
}
