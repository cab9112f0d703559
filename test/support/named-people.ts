/** People whose name is their id unless it is given, last changed at the same time. */
import type { UncheckedRecord } from '../../src/crm/record.js';

export const person = (id: string, name = id, more: object = {}): UncheckedRecord => ({
  ...{ id, 이름: name, '수정 날짜': '2026-03-01T00:00:00.000Z' },
  ...more,
});
export const people = (count: number, prefix = 'p'): UncheckedRecord[] =>
  Array.from({ length: count }, (_, index) => person(`${prefix}${index}`));
