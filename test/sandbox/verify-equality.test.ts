import { expect, test } from 'vitest';
import { scoreEvents } from '../../src/sandbox/verify/score.js';
import { mutation, eventOf, walk } from '../support/verify-fixtures.js';

const A = { 이름: 'A' };

test.each<[string, unknown, unknown]>([
  ['null becomes an empty list', null, []],
  ['an empty list becomes absent', [], undefined],
  ['an empty list inside becomes null', { id: 'u1', teams: [] }, { id: 'u1', teams: null }],
  [
    'references with further fields turn round',
    [
      { id: '1', a: 1 },
      { id: '2', a: 2 },
    ],
    [
      { id: '2', a: 2 },
      { id: '1', a: 1 },
    ],
  ],
  ['references of the history turn round', [{ _id: '1' }, { _id: '2' }], [{ _id: '2' }, { _id: '1' }]],
  ['keys turn round', { a: 1, b: 2 }, { b: 2, a: 1 }],
  ['a name is composed otherwise', { 이름: 1 }, { ['이름'.normalize('NFD')]: 1 }],
])('verify: a change that is none to a detector is not expected: %s', (_what, was, is) => {
  const journal = [walk(0, 1), mutation({ before: { ...A, 팀: was }, after: { ...A, 팀: is }, second: 10, seen: 12 })];
  expect(scoreEvents({ journal, events: [] })).toMatchObject({ expected: 0, recall: 1, missed: [] });
  const event = eventOf({ before: { ...A, 팀: was }, after: { ...A, 팀: is }, second: 13 });
  expect(scoreEvents({ journal, events: [event] })).toMatchObject({ falseEvents: 1 });
});

test('verify: a list that gets its first element is a change, and missed without an event (control)', () => {
  const journal = [
    walk(0, 1),
    mutation({ before: { ...A, 팀: null }, after: { ...A, 팀: ['x'] }, second: 10, seen: 12 }),
  ];
  expect(scoreEvents({ journal, events: [] })).toMatchObject({
    expected: 1,
    found: 0,
    missed: [{ list: 'people', id: 'p1', verb: 'updated' }],
  });
});
