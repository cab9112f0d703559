import { describe, expect, it } from 'vitest';
import {
  appearedAt,
  changesSince,
  decidedAt,
  isSchemaChangeUndone,
  storedContent,
  storedModifiedAt,
  withDecision,
  type StoredRecord,
  type Decision,
} from '../../../src/feed/detect/stored-record.js';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { compileRules } from '../../../src/feed/detect/rules.js';

const rules = () => compileRules('todo');

describe('stored record: compared with an answer', () => {
  const record = { id: 't1', 제목: 'a', 비고: null };

  it('has only new fields when nothing is stored', () => {
    const changes = changesSince({ sequence: 1, record: null }, record, rules());
    expect(changes.map(({ field }) => field)).toEqual(['id', '제목']);
  });
});

const stamp = '2026-03-01T00:00:00.000Z';

it('stored record: modifiedAt comes from the image, or is stored with a deleted record', () => {
  expect(storedModifiedAt({ sequence: 1, record: { '수정 날짜': stamp } })).toBe(stamp);
  expect(storedModifiedAt({ sequence: 1, record: null })).toBeNull();
  expect(
    storedModifiedAt({
      sequence: 1,
      record: null,
      gone: { at: 'x', modifiedAt: stamp },
    }),
  ).toBe(stamp);
});

describe('stored record: a change of the schema is undone', () => {
  const before = { id: 'a', 추천인: 'u' };
  const now = { id: 'a' };
  const moved = { at: 'x', sweep: 's', what: 'muted', rule: 'schema' } as const;
  const left = (more: Partial<StoredRecord> = {}): StoredRecord => ({
    sequence: 1,
    record: now,
    beforeDrift: storedContent({ sequence: 1, record: before }, rules()) ?? '',
    decisions: [moved],
    ...more,
  });

  const { decisions: _decisions, ...undecided } = left();
  const { beforeDrift: _content, ...unknown } = left();
  const touched = { at: 'y', sweep: 't', what: 'touched', rule: 'touch' } as const;

  it.each<[string, boolean, StoredRecord, UncheckedRecord]>([
    ['the record is exactly what it was before it silently followed', true, left(), before],
    ['it differs from that', false, left(), { ...before, 추천인: 'v' }],
    ['it is as it is stored', false, left(), now],
    ['another decision came since', false, left({ decisions: [moved, touched] }), before],
    ['no decision is the last one', false, left({ decisions: [] }), before],
    ['no decision is known', false, undecided, before],
    ['its content before that is not known', false, unknown, before],
  ])('when %s: %s', (_when, expected, stored, shown) => {
    expect(isSchemaChangeUndone(stored, shown, rules())).toBe(expected);
  });
});

describe('stored record: the decision log', () => {
  const entry = (what: Decision['what'], more: Partial<Decision> = {}): Decision => ({
    at: '2026-03-01T00:00:00.000Z',
    sweep: 's1',
    what,
    ...more,
  });
  const later = { at: '2026-03-02T00:00:00.000Z', sweep: 's2' };

  it('keeps the last five decisions', () => {
    const events = Array.from({ length: 7 }, (_, n) => entry('edited', { event: `evt_${n}` }));
    const kept = events.reduce<readonly Decision[]>((trail, one) => withDecision(trail, one), []);
    expect(kept).toEqual(events.slice(2));
    expect(withDecision(undefined, events[0]!)).toEqual([events[0]]);
  });

  it('counts repetitions of a decision without an event, with the time of the last', () => {
    const events = [entry('created', { event: 'evt_1' }), entry('edited', { event: 'evt_2' })];
    const once = [...events, entry('muted', { rule: 'only' })];
    const twice = withDecision(once, entry('muted', { rule: 'only', ...later }));
    expect(twice).toEqual([...events, entry('muted', { rule: 'only', ...later, times: 2 })]);
    expect(withDecision(twice, entry('muted', { rule: 'only' })).at(-1)?.times).toBe(3);
  });

  it.each([
    ['another rule', entry('muted', { rule: 'only' }), entry('muted', { rule: 'ignore: x' })],
    ['another word', entry('touched'), entry('muted')],
    ['an event after a silence', entry('edited'), entry('edited', { event: 'evt_1' })],
    ['a silence after an event', entry('touched', { event: 'evt_1' }), entry('touched')],
    ['two events', entry('edited', { event: 'evt_1' }), entry('edited', { event: 'evt_2' })],
  ])('distinguishes %s', (_what, first, second) => {
    expect(withDecision([first], second)).toEqual([first, second]);
  });

  it('gives the time of the last decision, and when the record appeared or reappeared', () => {
    const at = (day: number): { at: string } => ({ at: `2026-03-0${day}T00:00:00.000Z` });
    const trail = [
      entry('created', { ...at(1), event: 'evt_1' }),
      entry('reappeared', { ...at(2), event: 'evt_2' }),
      entry('muted', { ...at(4), rule: 'only' }),
    ];
    const known = (of: Decision[]): StoredRecord => ({ sequence: 1, record: {}, decisions: of });
    expect([decidedAt(known(trail)), appearedAt(known(trail))]).toEqual([at(4).at, at(2).at]);
    expect(appearedAt(known(trail.slice(0, 1)))).toBe(at(1).at);
    expect(appearedAt(known(trail.slice(2)))).toBeNull();
    const unseen = { sequence: 1, record: {} };
    expect([decidedAt(unseen), appearedAt(unseen)]).toEqual([null, null]);
  });
});
