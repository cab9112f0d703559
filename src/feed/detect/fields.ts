/** Reads timestamps and the fields of a todo from a record. */
import { USUAL } from '../../crm/lists/descriptor.js';

/** The documented name first. 완료 is a boolean, 담당자 a reference, 팀 a list of them; the others are dates. */
export const TODO_FIELDS = {
  done: ['완료'],
  doneAt: ['완료 날짜', '완료일'],
  start: ['시작 날짜', '시작일'],
  due: ['마지막 날짜', '종료일'],
  owner: ['담당자'],
  teams: ['팀'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

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

/** Under any of the names, in either Unicode form. Undefined: no field exists. Null: one exists and is empty. */
export function firstValue(record: Readonly<Record<string, unknown>>, fields: readonly string[]): unknown {
  let emptyValue: unknown;
  for (const name of fields.flatMap((field) => [field, field.normalize('NFD')])) {
    const value = record[name];
    if (value !== undefined && value !== null) return value;
    if (value === null) emptyValue = null;
  }
  return emptyValue;
}

function firstText(record: Readonly<Record<string, unknown>>, fields: readonly string[]): string | null {
  for (const field of fields) {
    const value = record[field] ?? record[field.normalize('NFD')];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}
