/** The compared fields of a record under a workspace's rules, its canonical text, made once per record and rules, and the digests that stand for texts. */
import { hash } from 'node:crypto';
import { contentText, readFields, type ComparedFields } from '../crm/canonical.js';
import type { UncheckedRecord } from '../crm/record.js';
import type { Rules } from './rules.js';

const fieldsCache = new WeakMap<UncheckedRecord, WeakMap<Rules, ComparedFields>>();
const textCache = new WeakMap<ComparedFields, string>();

/** The compared fields of a record by canonical name. Null and empty lists are left out where they mean absence. */
export function comparedFields(record: UncheckedRecord, rules: Rules): ComparedFields {
  const byRules = memoized(fieldsCache, record, () => new WeakMap<Rules, ComparedFields>());
  return memoized(byRules, rules, () => readFields(record, rules));
}

/** The canonical text of a whole record, from which its content digest is computed. */
export function canonicalText(record: UncheckedRecord, rules: Rules): string {
  return textOf(comparedFields(record, rules));
}

/** The canonical text of fields. */
export function textOf(fields: ComparedFields): string {
  return memoized(textCache, fields, () => contentText(fields));
}

/**
 * Keeps a value computed from an object for as long as the object lives. Records, rules and stored records are never
 * modified, and one decision needs the same value types, text and image in several modules.
 */
export function memoized<K extends object, V>(cache: WeakMap<K, V>, key: K, compute: () => V): V {
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const value = compute();
  cache.set(key, value);
  return value;
}

/** 128 bits of SHA-256 as 22 characters. Enough, because a digest is only compared with one earlier digest. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** 66 bits as 11 characters, for the content of a record. */
export function shortDigest(text: string): string {
  return digestOf(text).slice(0, 11);
}

/** 64 bits as 16 hexadecimal digits, for the text of a record. Like a page's digest, it is compared with one earlier digest only. */
export function recordDigest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16);
}

/**
 * 32 bits as 8 hexadecimal digits, for digests that are kept once per field (`images: false`). A change of a field goes unnoticed once in
 * four thousand million times. With 16 bits it would be once in 65,000.
 */
export function fieldDigest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 8);
}
