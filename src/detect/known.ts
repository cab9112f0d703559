/** What is remembered of a record beside its image, and the two ways an image is kept: whole, or as digests of its fields. */
import type { CanonicalField, CanonicalFields } from '../crm/canonical.js';
import { writtenName } from '../crm/fields.js';
import { canonicalFields, textOf } from './canonical.js';
import { digestOf } from './digest.js';
import { stampOf } from './fields.js';
import { ABSENT, formOf } from './form.js';
import type { RawValue } from './raw.js';
import { SCHEMA_RULE, withEveryField, type Rules } from './rules.js';
import { workedOut } from './worked-out.js';

/** An answer that may be older than what we know. It becomes a change when a later sweep sees it again. */
export interface Suspect {
  /** Digest of the content that was shown. */
  content: string;
  /** The sweep that saw it last. */
  sweep: string;
  /** Sweeps in a row that saw something suspect. */
  looks: number;
  /** Of a record that came back: this content is doubted no more, but was withheld with many other new records. */
  certain?: true;
}

/** One decision about a record. Field names and rules, never values. */
export interface TrailEntry {
  /** ISO 8601: of the last one, where it came several times in a row. */
  at: string;
  sweep: string;
  what: TrailWord;
  fields?: readonly string[];
  /** How many more there were than `fields` names. */
  furtherFields?: number;
  /** The rule that kept it quiet. */
  rule?: string;
  event?: string;
  times?: number;
}
export type TrailWord = 'created' | 'edited' | 'refreshed' | 'touched' | 'muted' | 'stale' | 'deleted' | 'reappeared';

/** What is kept of a record that was reported as deleted: enough to know it again. */
export interface Gone {
  at: string;
  stamp: string | null;
  content: string;
  /** Not reported: it belonged to another source of the list. When its id comes again, it is a new record. */
  dropped?: true;
}

export interface KnownRecord {
  sequence: number;
  /** The image; null when digests alone are kept, or the record is gone. */
  record: RawValue | null;
  /** With `images: false`: canonical field name → its print. */
  fields?: Readonly<Record<string, string>>;
  /** With `images: false`: the record's own change time. */
  stamp?: string | null;
  /** Digests of the contents before this one, the newest first. */
  earlier?: readonly string[];
  suspect?: Suspect;
  gone?: Gone;
  trail?: readonly TrailEntry[];
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
export interface Print {
  version: string;
  /** Digest of the canonical text where null, absent and an empty list mean the same; null where the field is one of these. */
  meaning: string | null;
  /** Where they do not: the digest that differs, by a null further in. */
  exact: string | null;
  form: string;
}

/** `<form version> <meaning or -> <exact or => <form>`: what it says holds under any rules. */
export function printsOf(record: RawValue, rules: Rules): Record<string, string> {
  const all = { ...withEveryField(rules), compares: () => true };
  const meanings = canonicalFields(record, { ...all, nullIsAbsent: true });
  const prints = [...canonicalFields(record, { ...all, nullIsAbsent: false })].map(([key, { value, text }]) => {
    const meaning = meanings.get(key)?.text;
    const digests =
      meaning === undefined ? '- =' : `${shortDigest(meaning)} ${text === meaning ? '=' : shortDigest(text)}`;
    return [key, `${PRINT_FORM} ${digests} ${formOf(value)}`];
  });
  // Not by assignment: a field may be called `__proto__`.
  return Object.fromEntries(prints) as Record<string, string>;
}

export function parsePrint(print: string): Print {
  const [version = '', meaning = '-', ...rest] = print.split(' ');
  const [exact, form] = version === FIRST_FORM ? ['=', rest.join(' ')] : [rest[0] ?? '=', rest.slice(1).join(' ')];
  return { version, meaning: meaning === '-' ? null : meaning, exact: exact === '=' ? null : exact, form };
}

export function shortDigest(text: string): string {
  return digestOf(text).slice(0, 11);
}

/** Both images of a record in the same terms: values where the old one has them, prints where it has not. */
export function bothSides(
  known: KnownRecord,
  record: RawValue,
  rules: Rules,
): [before: CanonicalFields, after: CanonicalFields] {
  if (known.fields === undefined) return [canonicalFields(known.record ?? {}, rules), canonicalFields(record, rules)];
  if (!Object.values(known.fields).every((print) => parsePrint(print).version === PRINT_FORM)) {
    const after = canonicalFields(record, rules);
    return [after, after];
  }
  return [sideOfPrints(known.fields, rules), sideOfPrints(printsOf(record, rules), rules)];
}

function sideOfPrints(prints: Readonly<Record<string, string>>, rules: Rules): CanonicalFields {
  const side = new Map<string, CanonicalField>();
  for (const [key, print] of Object.entries(prints)) {
    const text = textUnder(rules, parsePrint(print));
    if (text !== null && rules.compares(key)) side.set(key, { name: key, value: null, text });
  }
  return side;
}

function textUnder({ nullIsAbsent }: Rules, { meaning, exact, form }: Print): string | null {
  if (nullIsAbsent) return meaning;
  // Null and an empty list have no digest; their forms tell them apart.
  return exact ?? meaning ?? form;
}

/** What a side holds, as one short digest: equal contents have equal ones. */
export function contentOf(side: CanonicalFields): string {
  return shortDigest(textOf(side));
}

/** The form of every field of a record, by canonical name. */
export function formsOf(record: RawValue, rules: Rules): ReadonlyMap<string, string> {
  const byRules = workedOut(formed, record, () => new WeakMap<Rules, ReadonlyMap<string, string>>());
  return workedOut(byRules, rules, () => readForms(record, rules));
}

const formed = new WeakMap<RawValue, WeakMap<Rules, ReadonlyMap<string, string>>>();

function readForms(record: RawValue, rules: Rules): ReadonlyMap<string, string> {
  const forms = new Map<string, string>();
  for (const [name, value] of Object.entries(record)) {
    const form = formOf(value);
    if (form !== ABSENT) forms.set(writtenName(rules.list, name.normalize('NFC'), record), form);
  }
  return forms;
}

export function formsKnown(known: KnownRecord, rules: Rules): ReadonlyMap<string, string> {
  if (known.fields === undefined) return formsOf(known.record ?? {}, rules);
  return new Map(Object.entries(known.fields).map(([key, print]) => [key, parsePrint(print).form]));
}

export function stampKnown(known: KnownRecord): string | null {
  if (known.gone !== undefined) return known.gone.stamp;
  return known.record === null ? (known.stamp ?? null) : stampOf(known.record);
}

/** A change of the schema, of which nobody was told, is undone: the record is again just what it was before. */
export function isSchemaUndone(known: KnownRecord, record: RawValue, rules: Rules): boolean {
  if (known.trail?.at(-1)?.rule !== SCHEMA_RULE) return false;
  const [, after] = bothSides(known, record, rules);
  return known.earlier?.[0] === contentOf(after);
}

/** The contents before the next one, when the present one becomes one of them. */
export function earlierWith(known: KnownRecord, content: string): readonly string[] {
  return [content, ...(known.earlier ?? []).filter((one) => one !== content)].slice(0, EARLIER_KEPT);
}

/** The trail with one more decision; the same decision again only counts up. */
export function trailWith(trail: readonly TrailEntry[] = [], entry: TrailEntry): readonly TrailEntry[] {
  const last = trail.at(-1);
  const same = last?.event === undefined && entry.event === undefined && last?.what === entry.what;
  if (last === undefined || !same || last.rule !== entry.rule) return [...trail, entry].slice(-TRAIL_KEPT);
  return [...trail.slice(0, -1), { ...entry, times: (last.times ?? 1) + 1 }];
}

/** ISO 8601: when the last event of a record was seen to happen; null when it never had one. */
export function lastEventAt({ trail = [] }: KnownRecord): string | null {
  return trail.findLast(({ event }) => event !== undefined)?.at ?? null;
}

/** ISO 8601: when a record was first seen, or seen again after it was gone; null when that is long ago. */
export function appearedAt({ trail = [] }: KnownRecord): string | null {
  return trail.findLast(({ what }) => what === 'created' || what === 'reappeared')?.at ?? null;
}
