/** People as an API shows them. Use these instead of defining one in a test. */
import type { UncheckedRecord } from '../../src/crm/record.js';

/** A person whose name is the id unless it is given. All were last changed at the same time. */
export const person = (id: string, name = id, more: object = {}): UncheckedRecord => ({
  ...{ id, 이름: name, '수정 날짜': '2026-03-01T00:00:00.000Z' },
  ...more,
});
/** `p0`, `p1` … */
export const people = (count: number, prefix = 'p'): UncheckedRecord[] =>
  Array.from({ length: count }, (_, index) => person(`${prefix}${index}`));

/** A person with custom fields and without a time of change. Its id has three digits: `p007`. */
export const customer = (index: number, more: object = {}): UncheckedRecord => ({
  id: `p${String(index).padStart(3, '0')}`,
  이름: `이름 ${index}`,
  등급: 'A',
  메모: null,
  ...more,
});
export const customers = (count: number, more: (index: number) => object = () => ({})): UncheckedRecord[] =>
  Array.from({ length: count }, (_, index) => customer(index, more(index)));
