/** The fields of a todo, under any of the names that servers use. */

/** The documented name first. 완료 is a boolean, 담당자 a reference, 팀 a list of them; the others are dates. */
export const TODO_FIELDS = {
  done: ['완료'],
  doneAt: ['완료 날짜', '완료일'],
  start: ['시작 날짜', '시작일'],
  due: ['마지막 날짜', '종료일'],
  owner: ['담당자'],
  teams: ['팀'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

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

/** As the record has it; null where it has none. */
export function dueText(record: Readonly<Record<string, unknown>>): string | null {
  const value = firstValue(record, TODO_FIELDS.due);
  return typeof value === 'string' && value !== '' ? value : null;
}
