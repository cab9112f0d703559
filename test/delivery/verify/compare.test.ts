import { placeRow } from '../../../src/delivery/verify/copy.js';
import { builtInLists } from '../../../src/crm/lists/lists.js';
import { describe, expect, it } from 'vitest';
import { compareRecord, judgementOf } from '../../../src/delivery/verify/compare.js';
import { IdSet } from '../../../src/kit/id-set.js';
import { firstSequenceOf } from '../../../src/events/envelope.js';

const has = (sequence: number) => ({ sequence, deleted: false });
const knowsGone = (sequence: number) => ({ sequence, deleted: true });
const stored = (is: 'stored' | 'missing' | 'gone', sequence: number) => ({ is, sequence });
const snapshotAfterLoss = firstSequenceOf(7) - 1;

describe('verify', () => {
  it.each([
    ['the last state', has(3), stored('stored', 3), 'equal'],
    ['an earlier state', has(2), stored('stored', 3), 'differs'],
    ['a state that the feed has forgotten', has(4), stored('stored', 3), 'differs'],
    ['a snapshot that followed a loss', has(snapshotAfterLoss), stored('stored', 3), 'equal'],
    ['nothing of a record of the list', null, stored('stored', 3), 'missing'],
    ['a record as gone that the list has', knowsGone(3), stored('stored', 3), 'missing'],
    ['a record that was deleted', has(3), stored('gone', 4), 'extra'],
    ['a record that nothing is stored of', has(3), null, 'extra'],
    ['a record as gone that was deleted', knowsGone(4), stored('gone', 4), 'absent'],
    ['nothing of a record that was deleted', null, stored('gone', 4), 'absent'],
    ['a record that the last sweep missed', has(3), stored('missing', 3), 'undecided'],
    ['nothing of a record that the last sweep missed', null, stored('missing', 3), 'absent'],
  ])('verify: a copy with %s compares as it should', (_what, held, state, expected) => {
    expect(compareRecord(held, state)).toBe(expected);
  });

  const list = { object: 'person', is: 'ready', hasContents: false } as const;
  const receipts = { ageMs: 1, number: 1 };
  it.each([
    ['everything', { on: ['crm.*'] }, { presence: true, state: true, because: [] }],
    ['some fields', { on: ['crm.*'], fields: ['이름'] }, { presence: true, state: false, because: ['fields'] }],
    ['some records', { on: ['crm.*'], where: () => true }, { presence: false, state: false, because: ['where'] }],
    ['one class', { on: ['crm.*'], class: 'edited' as const }, { presence: false, state: false, because: ['class'] }],
    [
      'no updates',
      { on: ['crm.person.created', 'crm.person.deleted'] },
      { presence: true, state: false, because: ['on'] },
    ],
    ['no deletions', { on: ['crm.person.created'] }, { presence: false, state: false, because: ['on'] }],
    [
      'merged changes without receipts',
      { on: ['crm.*'], settle: { stillMs: 1, atMostMs: 1 }, receipts: null },
      { presence: true, state: false, because: ['receipts'] },
    ],
  ])('verify: of a subscription that gets %s, what can be judged is judged', (_what, options, expected) => {
    expect(judgementOf({ receipts, ...options }, list)).toEqual(expected);
  });

  it('verify: a list without records of its own, or not swept yet, is not judged', () => {
    const judged = (['off', 'rows', 'waiting'] as const).map((is) =>
      judgementOf({ on: ['crm.*'], receipts }, { ...list, is }),
    );
    expect(judged).toEqual([
      { presence: false, state: false, because: ['off'] },
      { presence: false, state: false, because: ['rows'] },
      { presence: false, state: false, because: ['waiting'] },
    ]);
  });

  it('verify: a set of ids knows each of many thousand once', () => {
    const ids = new IdSet();
    const all = Array.from({ length: 20_000 }, (_, number) => `acme people ${number}`);
    expect(all.filter((id) => ids.add(id))).toEqual(all);
    expect(all.filter((id) => ids.add(id))).toEqual([]);
    expect([ids.size, all.every((id) => ids.has(id)), ids.has('acme people x')]).toEqual([20_000, true, false]);
  });
});

it('verify: a row may have a sequence of any epoch, as a text or a number', () => {
  const about = { lists: () => builtInLists, workspaces: ['acme'] };
  const place = (sequence: unknown) => placeRow({ where: 'row 1', row: { list: 'people', id: 'a', sequence } }, about);
  expect(place('1883115976916992')).toMatchObject({ sequence: 1_883_115_976_916_992 });
  expect(place(Number.MAX_SAFE_INTEGER)).toMatchObject({ sequence: Number.MAX_SAFE_INTEGER });
  expect(() => place(String(2 ** 53))).toThrow('row 1: sequence: expected a whole number');
});
