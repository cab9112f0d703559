/** A list of people of a few plain fields, some of them otherwise. */
import type { RawRecord } from '../../src/api/read-api.js';

export const person = (index: number, more: object = {}): RawRecord => ({
  id: `p${String(index).padStart(3, '0')}`,
  이름: `이름 ${index}`,
  등급: 'A',
  메모: null,
  ...more,
});
export const people = (count: number, more: (index: number) => object = () => ({})): RawRecord[] =>
  Array.from({ length: count }, (_, index) => person(index, more(index)));
