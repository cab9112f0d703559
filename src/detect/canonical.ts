/** The canonical form of a record under a workspace's rules, worked out once per record and rules. */
import { readFields, type CanonicalFields } from '../crm/canonical.js';
import type { UncheckedRecord } from '../crm/record.js';
import type { Rules } from './rules.js';
import { workedOut } from './worked-out.js';

const formed = new WeakMap<UncheckedRecord, WeakMap<Rules, CanonicalFields>>();
const said = new WeakMap<CanonicalFields, string>();

/** The compared fields of a record by canonical name; null and empty lists are left out where they mean absence. */
export function canonicalFields(record: UncheckedRecord, rules: Rules): CanonicalFields {
  const byRules = workedOut(formed, record, () => new WeakMap<Rules, CanonicalFields>());
  return workedOut(byRules, rules, () => readFields(record, rules));
}

/** The canonical text of a whole record: what a content digest is taken of. */
export function canonicalText(record: UncheckedRecord, rules: Rules): string {
  return textOf(canonicalFields(record, rules));
}

/** The canonical text of fields in canonical form. */
export function textOf(fields: CanonicalFields): string {
  return workedOut(said, fields, () => {
    const members = [...fields].map(([key, { text }]) => `${JSON.stringify(key)}:${text}`);
    return members.sort().join(',');
  });
}
