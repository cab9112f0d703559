import { expect, it } from 'vitest';
import type { FieldRules } from '../../../src/feed/detect/rules.js';
import { recordsAsOf } from '../../../src/feed/history/as-of.js';
import type { RecordHistory } from '../../../src/feed/history/record-history.js';
import type { HistoryLimits } from '../../../src/feed/store/commit.js';
import { historyList, KEPT } from '../../support/history-list.js';
import { useRedis } from '../../support/redis.js';

const test = useRedis();
const at = (stamp: string) => ({ '수정 날짜': stamp });
const list = (...given: [limits?: HistoryLimits, rules?: FieldRules]) => historyList(test, ...given);

const lines = ({ changes }: RecordHistory): string[] =>
  changes.map(({ type, sequence, changes: fields }) =>
    [
      type?.split('.')[2] ?? 'stored',
      sequence,
      ...fields.map(({ field, before, after }) => `${field}: ${String(before)} → ${String(after)}`),
    ].join(' '),
  );

it('history: a record has its changes with their events, newest first, after the log has lost them', async () => {
  const people = list();
  await people.show([{ id: 'a', 이름: '가', 등급: 'C', ...at('2026-03-01T00:00:00.000Z') }]);
  await people.show([{ id: 'a', 이름: '가', 등급: 'B', ...at('2026-03-02T00:00:00.000Z') }]);
  await people.show([{ id: 'a', 이름: '나', 등급: 'A', ...at('2026-03-03T00:00:00.000Z') }]);
  await people.show([]);
  await people.show([{ id: 'a', 이름: '나', ...at('2026-03-04T00:00:00.000Z') }]);
  const events = await people.events();
  await test.redis.del(test.keys.log('acme'));
  const found = await people.history('a');
  expect(lines(found)).toEqual([
    'created 4',
    'deleted 3',
    'updated 2 등급: B → A 이름: 가 → 나',
    'updated 1 등급: C → B',
  ]);
  const told = events.map(({ id, time, data: { observedAt } }) => ({ event: id, time, observedAt }));
  expect(found.changes.map(({ event, time, observedAt }) => ({ event, time, observedAt }))).toEqual(told.reverse());
  expect([found.changes[0]?.reappeared, found.record, found.next]).toEqual([
    true,
    { id: 'a', 이름: '나', ...at('2026-03-04T00:00:00.000Z') },
    null,
  ]);
});

it('history: goes on with older changes where a part ends', async () => {
  const people = list();
  for (const grade of ['A', 'B', 'C', 'D', 'E']) await people.show([{ id: 'a', 등급: grade }]);
  const first = await people.history('a', { limit: 3 });
  const rest = await people.history('a', { limit: 3, from: first.next ?? '' });
  expect([...lines(first), '—', ...lines(rest)]).toEqual([
    ...['updated 4 등급: D → E', 'updated 3 등급: C → D', 'updated 2 등급: B → C', '—', 'updated 1 등급: A → B'],
  ]);
  expect(rest.next).toBeNull();
});

it('history: of a time has the record as it was, and the changes up to then', async () => {
  const people = list();
  await people.show([{ id: 'a', 이름: '가', 등급: 'C' }]);
  const atMs = await people.show([{ id: 'a', 이름: '가', 등급: 'B' }]);
  await people.show([{ id: 'a', 이름: '나', 등급: 'B' }]);
  await people.show([]);
  const found = await people.history('a', { atMs });
  expect([found.title, found.record, lines(found)]).toEqual([
    ...['가', { id: 'a', 이름: '가', 등급: 'B' }, ['updated 1 등급: C → B']],
  ]);
  expect((await people.history('a')).title).toBe('나');
  await expect(people.history('a', { atMs: 0 })).rejects.toMatchObject({ code: 'CF_USAGE' });
});

it('as of: shows the records that were in the list, with the values of that time', async () => {
  const people = list();
  const states = [
    [{ id: 'a', 등급: 'A', ...at('2026-03-01T00:00:00.000Z') }],
    [
      { id: 'a', 등급: 'B', ...at('2026-03-02T00:00:00.000Z') },
      { id: 'b', 등급: 'A' },
    ],
    [{ id: 'b', 등급: 'A' }],
    [
      { id: 'a', 등급: 'C', ...at('2026-03-03T00:00:00.000Z') },
      { id: 'b', 등급: null },
    ],
  ];
  const times: number[] = [];
  for (const state of states) times.push(await people.show(state));
  for (const [index, time] of times.entries()) expect(await people.asOf(time)).toEqual(states[index]);
});

it('as of: a time before the history is refused, with the time from which on it is known', async () => {
  const people = list();
  const baseline = await people.show([{ id: 'a', 등급: 'A' }]);
  await people.show([{ id: 'a', 등급: 'B' }]);
  await expect(people.asOf(baseline - 60_000)).rejects.toThrow(/is known from \S+Z on: give that time or a later one/);
});

it('as of: what changed without an event is undone too', async () => {
  const people = list();
  const before = await people.show([{ id: 'a', 등급: 'A' }]);
  await people.store.forgetBaseline('people');
  const after = await people.show([
    { id: 'a', 등급: 'B' },
    { id: 'b', 등급: 'A' },
  ]);
  expect(await people.asOf(before)).toEqual([{ id: 'a', 등급: 'A' }]);
  expect((await people.asOf(after)).map(({ id }) => id)).toEqual(['a', 'b']);
  expect(lines(await people.history('a'))).toEqual(['stored 0 등급: A → B']);
});

it('history: only the newest changes are kept, and nothing is claimed of the time before', async () => {
  const people = list({ ...KEPT, changes: 150 });
  const many = (grade: string) => Array.from({ length: 100 }, (_, nth) => ({ id: `p${nth}`, 등급: grade }));
  const times: number[] = [];
  for (const grade of ['A', 'B', 'C', 'D', 'E']) times.push(await people.show(many(grade)));
  expect(await test.redis.xlen(test.keys.history('acme', 'people'))).toBeLessThan(300);
  await expect(people.asOf(times[1] ?? 0)).rejects.toThrow('is known from');
  expect((await people.asOf(times[3] ?? 0)).map(({ 등급: grade }) => grade)).toEqual(many('D').map(() => 'D'));
});

it('history: changes that are too old go with the next sweep', async () => {
  const people = list({ ...KEPT, keepMs: 86_400_000 });
  const many = (grade: string) => Array.from({ length: 200 }, (_, nth) => ({ id: `p${nth}`, 등급: grade }));
  for (const grade of ['A', 'B']) await people.show(many(grade));
  const history = test.keys.history('acme', 'people');
  const before = await test.redis.xlen(history);
  await people.show(many('B'), { minutesLater: 3 * 24 * 60 });
  expect([before, await test.redis.xlen(history)]).toEqual([200, expect.any(Number)]);
  expect(await test.redis.xlen(history)).toBeLessThan(100);
});

it.each<[string, { rules?: FieldRules }]>([
  ['by a release without it, or while it was off', {}],
  ['under other masks', { rules: { mask: { 등급: 'drop' } } }],
])('history: begins again after a step %s', async (_what, other) => {
  const people = list();
  await people.show([{ id: 'a', 등급: 'A', 이름: '가' }]);
  const before = await people.show([{ id: 'a', 등급: 'B', 이름: '가' }]);
  const store = people.storeWith(other.rules === undefined ? null : KEPT);
  await people.show([{ id: 'a', 등급: 'C', 이름: '나' }], { ...other, store });
  await people.show([{ id: 'a', 등급: 'C', 이름: '다' }], other);
  await expect(people.asOf(before)).rejects.toThrow('is known from');
  expect(lines(await people.history('a')).at(-1)).toMatch(/이름: . → ./);
  expect(JSON.stringify(await people.history('a'))).not.toContain('"B"');
});

it('history: without it, nothing of it is stored', async () => {
  const people = list();
  for (const grade of ['A', 'B']) await people.show([{ id: 'a', 등급: grade }]);
  await people.show([{ id: 'a', 등급: 'C' }], { store: people.storeWith(null) });
  const names = [test.keys.history, test.keys.changed].map((key) => key('acme', 'people'));
  expect(await test.redis.exists(...names)).toBe(0);
});

it('as of: a list whose history is trimmed while it is read ends with an error, not with the values of today', async () => {
  const people = list();
  const first = await people.show([{ id: 'a', 등급: 'C' }]);
  await people.show([{ id: 'a', 등급: 'B', ...at('2026-03-02T00:00:00.000Z') }]);
  const rows = recordsAsOf(people.store, { list: 'people', atMs: first });
  expect((await rows.next()).value).toMatchObject({ 등급: 'C' });
  await test.redis.hset(test.keys.sweep('acme', 'people'), 'historySince', first + 1);
  await expect(rows.next()).rejects.toMatchObject({ code: 'CF_USAGE' });
  await expect(people.asOf(first)).rejects.toMatchObject({ code: 'CF_USAGE' });
});
