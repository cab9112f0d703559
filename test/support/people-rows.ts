/** People with a few plain fields, which a test may override. */
import type { UncheckedRecord } from '../../src/crm/record.js';

export const person = (index: number, more: object = {}): UncheckedRecord => ({
  id: `p${String(index).padStart(3, '0')}`,
  이름: `이름 ${index}`,
  등급: 'A',
  메모: null,
  ...more,
});
export const people = (count: number, more: (index: number) => object = () => ({})): UncheckedRecord[] =>
  Array.from({ length: count }, (_, index) => person(index, more(index)));
