import type { CanonicalFields } from './canonical.js';

/** One field that differs. `before` or `after` is null where the field was absent or null. */
export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The fields that differ between two canonical records, sorted by name, with the values as the records hold them. */
export function diffFields(before: CanonicalFields, after: CanonicalFields): FieldChange[] {
  return [...changesByName(before, after).values()];
}

/** The same by canonical name. */
export function changesByName(before: CanonicalFields, after: CanonicalFields): ReadonlyMap<string, FieldChange> {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  return new Map(
    keys.flatMap((key) => {
      const old = before.get(key);
      const now = after.get(key);
      if (old?.text === now?.text) return [];
      return [[key, { field: now?.name ?? old?.name ?? key, before: old?.value ?? null, after: now?.value ?? null }]];
    }),
  );
}
