/**
 * The canonical form: two records that mean the same have the same one. Blind to key order, to null against absent, to
 * the order inside a set of references, to Unicode composition of keys and to a picture URL's signature.
 * Numbers, booleans and strings are never coerced.
 */
import stringify from 'fast-json-stable-stringify';
import type { RawValue } from './raw.js';
import { isPictureField, writtenName } from './fields.js';
import type { Rules } from './rules.js';

export interface CanonicalField {
  /** The field's name as the record spells it. */
  name: string;
  /** The value as the record holds it. */
  value: unknown;
  /** The value's canonical text; equal texts are equal values. */
  text: string;
}

/** The compared fields of a record by canonical name; null and empty lists are left out where they mean absence. */
export function canonicalFields(record: RawValue, rules: Rules): Map<string, CanonicalField> {
  const fields = new Map<string, CanonicalField>();
  for (const [name, value] of Object.entries(record)) {
    const key = writtenName(rules.list, name.normalize('NFC'), record);
    if (!rules.compares(key)) continue;
    const canonical = canonicalValue(isPictureField(key) ? withoutQuery(value) : value, rules.nullIsAbsent);
    if (canonical !== null || !rules.nullIsAbsent) fields.set(key, { name, value, text: stringify(canonical) });
  }
  return fields;
}

/** The canonical text of a whole record: what a content digest is taken of. */
export function canonicalText(record: RawValue, rules: Rules): string {
  return textOf(canonicalFields(record, rules));
}

export function textOf(fields: ReadonlyMap<string, Pick<CanonicalField, 'text'>>): string {
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([key, field]) => `${JSON.stringify(key)}:${field.text}`).join(',');
}

function canonicalValue(value: unknown, nullIsAbsent: boolean): unknown {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) {
    if (value.length === 0 && nullIsAbsent) return null;
    return canonicalArray(value.map((item) => canonicalValue(item, nullIsAbsent)));
  }
  if (typeof value !== 'object') return value;
  const entries = Object.entries(value)
    .map(([key, inner]) => [key.normalize('NFC'), canonicalValue(inner, nullIsAbsent)] as const)
    .filter(([, inner]) => inner !== null || !nullIsAbsent);
  return Object.fromEntries(entries);
}

/** A list of references is a set. Other lists keep their order. */
function canonicalArray(items: readonly unknown[]): readonly unknown[] {
  const ids = items.map(referenceId);
  if (ids.some((id) => id === null)) return items;
  return items
    .map((item, index) => ({ item, id: ids[index] ?? '', text: stringify(item) }))
    .sort((a, b) => compareText(a.id, b.id) || compareText(a.text, b.text))
    .map(({ item }) => item);
}

/** References carry `id`; history entries spell it `_id`. */
function referenceId(item: unknown): string | null {
  if (item === null || typeof item !== 'object') return null;
  const { id, _id } = item as { id?: unknown; _id?: unknown };
  if (typeof id === 'string') return id;
  return typeof _id === 'string' ? _id : null;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function withoutQuery(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/[?#].*$/su, '') : value;
}
