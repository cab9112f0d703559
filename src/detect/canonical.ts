/** The compared fields of a record under a workspace's rules, and its canonical text, made once per record and rules. */
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
