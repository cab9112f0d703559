import type { FieldChange } from '../events/types.js';
import type { CanonicalField } from './canonical.js';

/** The fields that differ between two canonical records, sorted by name, with the values as the records hold them. */
export function diffFields(
  before: ReadonlyMap<string, CanonicalField>,
  after: ReadonlyMap<string, CanonicalField>,
): FieldChange[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  return keys.flatMap((key) => {
    const old = before.get(key);
    const now = after.get(key);
    if (old?.text === now?.text) return [];
    return [{ field: now?.name ?? old?.name ?? key, before: old?.value ?? null, after: now?.value ?? null }];
  });
}
