/** Reads timestamps from a record. */
import { USUAL } from '../../crm/lists/descriptor.js';

export interface Timestamps {
  readonly modifiedAt: readonly string[];
  readonly createdAt: readonly string[];
}

/** The record's own change time does not prove a change: fields change without it, and it changes without them. */
export function isStampField(field: string, { modifiedAt }: Timestamps): boolean {
  return modifiedAt.includes(field);
}

export function modifiedAtOf(
  record: Readonly<Record<string, unknown>>,
  { modifiedAt }: Timestamps = USUAL,
): string | null {
  return firstText(record, modifiedAt);
}

export function creationTimeOf(
  record: Readonly<Record<string, unknown>>,
  { createdAt }: Timestamps = USUAL,
): string | null {
  return firstText(record, createdAt);
}

function firstText(record: Readonly<Record<string, unknown>>, fields: readonly string[]): string | null {
  for (const field of fields) {
    const value = record[field] ?? record[field.normalize('NFD')];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}
