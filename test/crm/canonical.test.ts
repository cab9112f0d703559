import { expect, it } from 'vitest';
import { meaningOf } from '../../src/crm/canonical.js';

it.each<[string, unknown, unknown]>([
  ['null and an empty list', null, []],
  ['null and absent', null, undefined],
  ['a null inside and none', { id: '1', team: null }, { id: '1' }],
  ['a number beyond the range of numbers and null', JSON.parse('1e400'), null],
  ['such a number inside and none', { id: '1', sum: JSON.parse('-1e400') as unknown }, { id: '1' }],
  ['keys in another order', { a: 1, b: 2 }, { b: 2, a: 1 }],
  ['references in another order', [{ id: '1' }, { _id: '2' }], [{ _id: '2' }, { id: '1' }]],
])('equality: %s mean the same', (_what, one, other) => {
  expect(meaningOf(one)).toBe(meaningOf(other));
});

it.each<[string, unknown, unknown]>([
  ['an empty text and null', '', null],
  ['a number and its text', 1, '1'],
  ['false and null', false, null],
  ['a list with a null and an empty one', [null], []],
  ['texts in another order', ['a', 'b'], ['b', 'a']],
  ['an empty object and null', {}, null],
  ['a reference and the same with another name', { id: '1', name: 'a' }, { id: '1', name: 'b' }],
])('equality: %s do not mean the same', (_what, one, other) => {
  expect(meaningOf(one)).not.toBe(meaningOf(other));
});
