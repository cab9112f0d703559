/** The canonical form of a record under a workspace's rules, computed once per record and rules. */
import { readFields, type CanonicalFields } from '../crm/canonical.js';
import type { UncheckedRecord } from '../crm/record.js';
import { memoized } from './memoized.js';
import type { Rules } from './rules.js';

const fieldsCache = new WeakMap<UncheckedRecord, WeakMap<Rules, CanonicalFields>>();
const textCache = new WeakMap<CanonicalFields, string>();

/** The compared fields of a record by canonical name. Null and empty lists are left out where they mean absence. */
export function canonicalFields(record: UncheckedRecord, rules: Rules): CanonicalFields {
  const byRules = memoized(fieldsCache, record, () => new WeakMap<Rules, CanonicalFields>());
  return memoized(byRules, rules, () => readFields(record, rules));
}

/** The canonical text of a whole record, from which its content digest is computed. */
export function canonicalText(record: UncheckedRecord, rules: Rules): string {
  return textOf(canonicalFields(record, rules));
}

/** The canonical text of fields in canonical form. */
export function textOf(fields: CanonicalFields): string {
  return memoized(textCache, fields, () => {
    const members = [...fields].map(([key, { text }]) => `${JSON.stringify(key)}:${text}`);
    return members.sort().join(',');
  });
}
