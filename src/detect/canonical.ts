/**
 * The canonical form: two records that mean the same have the same one. Blind to key order, to null against absent, to
 * the order inside a set of references, to Unicode composition of keys and to a picture URL's signature.
 * Numbers, booleans and strings are never coerced.
 */
import type { RawValue } from './raw.js';
import { isPictureField, writtenName } from './fields.js';
import type { Rules } from './rules.js';
import { workedOut } from './worked-out.js';

export interface CanonicalField {
  /** The field's name as the record spells it. */
  name: string;
  /** The value as the record holds it. */
  value: unknown;
  /** The value's canonical text; equal texts are equal values. */
  text: string;
}

export type CanonicalFields = ReadonlyMap<string, CanonicalField>;

const formed = new WeakMap<RawValue, WeakMap<Rules, CanonicalFields>>();
const said = new WeakMap<CanonicalFields, string>();

/** The compared fields of a record by canonical name; null and empty lists are left out where they mean absence. */
export function canonicalFields(record: RawValue, rules: Rules): CanonicalFields {
  const byRules = workedOut(formed, record, () => new WeakMap<Rules, CanonicalFields>());
  return workedOut(byRules, rules, () => formFields(record, rules));
}

function formFields(record: RawValue, rules: Rules): CanonicalFields {
  const fields = new Map<string, CanonicalField>();
  for (const [name, value] of Object.entries(record)) {
    const key = writtenName(rules.list, name.normalize('NFC'), record);
    if (!rules.compares(key)) continue;
    const text = valueText(isPictureField(key) ? withoutQuery(value) : value, rules.nullIsAbsent);
    if (text !== null) fields.set(key, { name, value, text });
  }
  return fields;
}

/** The canonical text of a whole record: what a content digest is taken of. */
export function canonicalText(record: RawValue, rules: Rules): string {
  return textOf(canonicalFields(record, rules));
}

/** The canonical text of fields in canonical form. */
export function textOf(fields: CanonicalFields): string {
  return workedOut(said, fields, () => {
    const members = [...fields].map(([key, { text }]) => `${JSON.stringify(key)}:${text}`);
    return members.sort().join(',');
  });
}

/** Null for what means that nothing is there. */
function valueText(value: unknown, nullIsAbsent: boolean): string | null {
  if (value === null || value === undefined) return nullIsAbsent ? null : 'null';
  if (Array.isArray(value)) return value.length === 0 && nullIsAbsent ? null : arrayText(value, nullIsAbsent);
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([key, inner]) => {
    const text = valueText(inner, nullIsAbsent);
    return text === null ? [] : [`${JSON.stringify(key.normalize('NFC'))}:${text}`];
  });
  return `{${members.sort().join(',')}}`;
}

/** A list of references is a set. Other lists keep their order. */
function arrayText(items: readonly unknown[], nullIsAbsent: boolean): string {
  const texts = items.map((item) => valueText(item, nullIsAbsent) ?? 'null');
  if (items.every(isReference)) texts.sort();
  return `[${texts.join(',')}]`;
}

/** References carry `id`; history entries spell it `_id`. */
function isReference(item: unknown): boolean {
  if (item === null || typeof item !== 'object') return false;
  const { id, _id } = item as { id?: unknown; _id?: unknown };
  return typeof id === 'string' || typeof _id === 'string';
}

function withoutQuery(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/[?#].*/su, '') : value;
}
