/**
 * The canonical form: two records that mean the same have the same one. It ignores key order, null against absent, the order
 * inside a set of references, Unicode composition of keys and the signature of a picture URL. Numbers, booleans and strings
 * are never converted. Detection and merged changes compare records with it: a change is a field that is compared (`compares`, from the
 * rules of the list) and whose canonical text differs. The record's own time of change is not compared. The judge of the sandbox has an
 * equality of its own, so that a mistake here is noticed.
 */
import { isPictureField, writtenName } from './fields.js';
import { descriptorOf, type ListRef } from './lists/lists.js';

export interface CanonicalField {
  /** The field's name as the record spells it. */
  name: string;
  /** The value as the record holds it. */
  value: unknown;
  /** The value's canonical text; equal texts are equal values. */
  text: string;
}

/** Fields by canonical name. */
export type CanonicalFields = ReadonlyMap<string, CanonicalField>;

/** The rules of a comparison. */
export interface Comparison {
  readonly list: ListRef;
  /** Null, absent and an empty list mean the same. */
  readonly nullIsAbsent: boolean;
  /** Whether a field is compared, by its canonical name. */
  readonly compares: (field: string) => boolean;
}

/** The compared fields of a record; null and empty lists are left out where they mean absence. */
export function readFields(
  record: Readonly<Record<string, unknown>>,
  { list, nullIsAbsent, compares }: Comparison,
): CanonicalFields {
  const descriptor = descriptorOf(list);
  const fields = new Map<string, CanonicalField>();
  for (const [name, value] of Object.entries(record)) {
    const key = writtenName(descriptor, name.normalize('NFC'), record);
    if (!compares(key)) continue;
    const text = valueText(isPictureField(descriptor, key) ? withoutQuery(value) : value, nullIsAbsent);
    if (text !== null) fields.set(key, { name, value, text });
  }
  return fields;
}

/** The canonical text of a single value; null for null, absent and an empty list. */
export function meaningOf(value: unknown): string | null {
  return valueText(value, true);
}

/** Null for a value that means absence. */
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
