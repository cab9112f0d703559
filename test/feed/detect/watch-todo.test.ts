import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../../src/events/types.js';
import type { StoredRecord } from '../../../src/feed/detect/stored-record.js';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { compileRules } from '../../../src/feed/detect/rules.js';
import { NO_TIMERS, watchTodo, type Watched } from '../../../src/feed/detect/watch-todo.js';
import { inputOf, runCase, observation } from '../../support/detect-case.js';

const WATCH = { timeZone: 'Asia/Seoul', dueSoonMs: 3_600_000 };
const rules = compileRules('todo', {}, WATCH);
const DUE = '2026-03-01T17:00:00.000Z';
const LATER = '2026-03-02T06:00:00.000Z';
const kim = { id: 'u1', name: '김' };
const lee = { id: 'u2', name: '이' };
const OPEN: UncheckedRecord = {
  id: 't1',
  이름: '전화',
  완료: false,
  '완료 날짜': null,
  '마지막 날짜': DUE,
  담당자: kim,
  '수정 날짜': '2026-03-01T10:00:05.000Z',
};

interface Sighting {
  watched: Watched;
  event: ChangeEvent | null;
}

function seen(record: UncheckedRecord, given: Parameters<typeof runCase>[0] | object = {}): Sighting {
  const all = { rules, record, ...given };
  const { detection } = runCase(all);
  return { watched: watchTodo(inputOf(all), detection), event: detection.event };
}

const known = (record: UncheckedRecord): StoredRecord => ({
  sequence: 3,
  record,
  dueSince: '2026-02-01T00:00:00.000Z',
});
const moved = (fields: UncheckedRecord, from: UncheckedRecord = OPEN): Sighting =>
  seen({ ...from, ...fields, '수정 날짜': '2026-03-01T11:00:05.000Z' }, { stored: known(from) });
const verbs = ({ watched }: Sighting): string[] => watched.derived.map(({ type }) => type);
const at = (text: string): number => Date.parse(text);

describe('todo events: derived from a change', () => {
  it('carry record, sequence, images, class and the deciding fields of their source', () => {
    const { watched, event } = moved({ 완료: true, '완료 날짜': '2026-03-01T10:59:00.000Z', 이름: '다시 전화' });
    const [done] = watched.derived;
    expect(watched.derived).toHaveLength(1);
    expect(done).toEqual({
      ...event,
      id: done?.id,
      type: 'crm.todo.completed',
      time: '2026-03-01T10:59:00.000Z',
      data: {
        ...event?.data,
        derivedFrom: event?.id,
        changes: event?.data.changes.filter(({ field }) => field.startsWith('완료')),
      },
    });
    expect(done?.data.changes.map(({ field }) => field)).toEqual(['완료', '완료 날짜']);
    expect(done?.id).not.toBe(event?.id);
    expect(
      moved({ 완료: true, '완료 날짜': '2026-03-01T10:59:00.000Z', 이름: '다시 전화' }).watched.derived[0]?.id,
    ).toBe(done?.id);
  });

  it.each([
    ['done, without saying when', { 완료: true }, ['crm.todo.completed']],
    ['due later', { '마지막 날짜': LATER }, ['crm.todo.rescheduled']],
    ['due at no time', { '마지막 날짜': null }, ['crm.todo.rescheduled']],
    ['given to another', { 담당자: lee }, ['crm.todo.reassigned']],
    ['given to nobody', { 담당자: null }, ['crm.todo.reassigned']],
    ['renamed in charge', { 담당자: { id: 'u1', name: '김민' } }, []],
    ['the same moment, written otherwise', { '마지막 날짜': '2026-03-02T02:00:00.000+09:00' }, []],
    ['begun later', { '시작 날짜': LATER }, []],
    ['another name', { 이름: '방문' }, []],
    ['the flag gone', { 완료: null }, []],
    [
      'all at once',
      { 완료: true, '마지막 날짜': LATER, 담당자: lee },
      ['crm.todo.reassigned', 'crm.todo.rescheduled', 'crm.todo.completed'],
    ],
  ])('%s', (_what, fields, expected) => {
    expect(verbs(moved(fields))).toEqual(expected);
  });

  it('fields that rules leave out derive nothing', () => {
    const muted = compileRules('todo', { ignore: ['완료', '완료 날짜', '담당자'] }, WATCH);
    const record = { ...OPEN, 완료: true, 담당자: lee, 이름: '방문', '수정 날짜': '2026-03-01T11:00:05.000Z' };
    expect(verbs(seen(record, { stored: known(OPEN), rules: muted }))).toEqual([]);
    const undated = compileRules('todo', { ignore: ['*날짜'] }, WATCH);
    const moves = { ...record, 완료: false, '마지막 날짜': LATER };
    expect(verbs(seen(moves, { stored: known(OPEN), rules: undated }))).toEqual(['crm.todo.reassigned']);
    const again = { ...OPEN, 이름: '방문', '수정 날짜': '2026-03-01T11:00:05.000Z' };
    expect(verbs(seen(again, { stored: known({ ...OPEN, 완료: true }), rules: muted }))).toEqual([]);
  });

  it('completed is emitted for a todo first seen as done', () => {
    const { watched, event } = seen({ ...OPEN, 완료: true, '완료 날짜': '2026-03-01T09:00:00.000Z' });
    expect(event?.type).toBe('crm.todo.created');
    expect(watched.derived.map(({ type, time, data }) => [type, time, data.changes])).toEqual([
      ['crm.todo.completed', '2026-03-01T09:00:00.000Z', []],
    ]);
    expect(seen({ ...OPEN, 완료: true }).watched.derived[0]?.time).toBe(seen({ ...OPEN, 완료: true }).event?.time);
    expect(verbs(seen(OPEN))).toEqual([]);
  });

  it('a todo that reappeared derives nothing', () => {
    const gone: StoredRecord = {
      sequence: 4,
      record: null,
      gone: { at: '2026-02-01T00:00:00.000Z', modifiedAt: '2026-01-01T00:00:00.000Z' },
    };
    const back = seen({ ...OPEN, 완료: true }, { stored: gone });
    expect(back.event?.data.reappeared).toBe(true);
    expect(verbs(back)).toEqual([]);
  });
});

describe('todo timers:', () => {
  const soon = at(DUE) - WATCH.dueSoonMs;

  it('in the past fire at once, except "due soon" of an overdue todo', () => {
    const past = '2026-03-01T11:30:00.000Z';
    expect(seen({ ...OPEN, '마지막 날짜': past }).watched.timers).toEqual([
      { kind: 'due_soon', atMs: null },
      { kind: 'overdue', atMs: at(past) },
    ]);
    expect(seen({ ...OPEN, '마지막 날짜': observation.observedAt }).watched.timers[0]).toEqual({
      kind: 'due_soon',
      atMs: null,
    });
    const nearly = '2026-03-01T12:30:00.000Z';
    expect(seen({ ...OPEN, '마지막 날짜': nearly }).watched.timers[0]).toEqual({
      kind: 'due_soon',
      atMs: at(nearly) - WATCH.dueSoonMs,
    });
  });

  it('in a quiet baseline are only those in the future', () => {
    const first = (due: string): Watched => seen({ ...OPEN, '마지막 날짜': due }, { baseline: 'quiet' }).watched;
    expect(first(DUE)).toEqual({
      derived: [],
      timers: [
        { kind: 'due_soon', atMs: soon },
        { kind: 'overdue', atMs: at(DUE) },
      ],
      since: undefined,
    });
    expect(first('2026-03-01T12:30:00.000Z').timers).toEqual([
      { kind: 'due_soon', atMs: null },
      { kind: 'overdue', atMs: at('2026-03-01T12:30:00.000Z') },
    ]);
    expect(first('2026-03-01T13:00:00.000Z').timers[0]).toEqual({ kind: 'due_soon', atMs: null });
    expect(first(observation.observedAt).timers).toEqual(NO_TIMERS);
  });

  it('stay without a todo watch', () => {
    const unwatched = seen({ ...OPEN, 완료: true }, { rules: compileRules('todo') });
    expect(unwatched.watched).toEqual({ derived: [], timers: [], since: undefined });
    expect(compileRules('people', {}, WATCH).watch).toBeNull();
  });
});
