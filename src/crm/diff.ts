import { differingNames, readFields, type ComparedFields, type Comparison } from './canonical.js';

/** One field that differs. */
export interface FieldChange {
  /** The name of the field. */
  readonly field: string;
  /** Its value before the change; null where it was absent or null, and where no image is stored. */
  readonly before: unknown;
  /** Its value after the change; null where it is absent or null. */
  readonly after: unknown;
}

/** The fields that differ between two records, sorted by name, with the values as the records hold them. */
export function diffFields(before: ComparedFields, after: ComparedFields): FieldChange[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  return keys.flatMap((key) => {
    const old = before.get(key);
    const now = after.get(key);
    if (old?.text === now?.text) return [];
    return [{ field: now?.name ?? old?.name ?? key, before: old?.value ?? null, after: now?.value ?? null }];
  });
}

/** The same between two records. Values that are equal as they are written are not brought into canonical form. */
export function diffRecords(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  comparison: Comparison,
): FieldChange[] {
  const names = differingNames(before, after);
  return diffFields(readFields(before, comparison, names.one), readFields(after, comparison, names.other));
}
