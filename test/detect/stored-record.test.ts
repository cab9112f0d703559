import { describe, expect, it } from 'vitest';
import {
  appearedAt,
  changesSince,
  contentOf,
  decidedAt,
  storedValueTypes,
  valueTypesOf,
  isSchemaChangeUndone,
  parseFingerprint,
  fingerprintsOf,
  storedModifiedAt,
  withDecision,
  type StoredRecord,
  type Decision,
} from '../../src/detect/stored-record.js';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { compileRules } from '../../src/detect/rules.js';

const rules = () => compileRules('todo');
const printed = (record: UncheckedRecord, by = rules()): StoredRecord => ({
  sequence: 1,
  record: null,
  fields: fingerprintsOf(record, by),
});
const differ = (known: StoredRecord, record: UncheckedRecord, by = rules()): boolean =>
  changesSince(known, record, by).length > 0;

describe('fingerprint: one field', () => {
  it('has a version, two digests and a value type of one or more words', () => {
    expect(parseFingerprint('1 aaaaaaaa = list of {id, name}')).toEqual({
      version: '1',
      meaning: 'aaaaaaaa',
      exact: null,
      valueType: 'list of {id, name}',
    });
    expect(parseFingerprint('1 aaaaaaaa bbbbbbbb object')).toMatchObject({
      exact: 'bbbbbbbb',
      valueType: 'object',
    });
    expect(parseFingerprint('1 - = empty list')).toMatchObject({ meaning: null, exact: null, valueType: 'empty list' });
  });

  it('that is cut off has no meaning', () => {
    expect(parseFingerprint('')).toEqual({ version: '', meaning: null, exact: null, valueType: '' });
  });

  it('has a second digest when a nested null makes a difference', () => {
    const of = (비고: unknown): string => fingerprintsOf({ 비고 }, rules())['비고']!;
    expect(of({ a: 1 })).toMatch(/^1 [\da-f]{8} = \{a\}$/u);
    expect(of({ a: 1, b: null })).toMatch(/^1 [\da-f]{8} [\da-f]{8} \{a, b\}$/u);
    expect(parseFingerprint(of({ a: 1, b: null })).meaning).toBe(parseFingerprint(of({ a: 1 })).meaning);
    const strict = compileRules('todo', { nullIsAbsent: false });
    expect(differ(printed({ 비고: { a: 1, b: null } }), { 비고: { a: 1 } }, strict)).toBe(true);
    expect(differ(printed({ 비고: { a: 1, b: null } }), { 비고: { a: 1 } })).toBe(false);
  });
});

describe('fingerprint: the fields of a record', () => {
  const record = {
    id: 't1',
    시작일: '2026-03-01T00:00:00.000Z',
    팀: [],
    비고: null,
    담당자: { id: 'u', name: '비밀' },
  };

  it('hold a digest and a value type per documented name, and no values', () => {
    expect(fingerprintsOf({ ...record, '수정 날짜': '2026-03-01T00:00:00.001Z' }, rules())).toEqual({
      id: expect.stringMatching(/^1 [\da-f]{8} = string$/u) as string,
      '시작 날짜': expect.stringMatching(/^1 [\da-f]{8} = timestamp to the minute$/u) as string,
      팀: '1 - = empty list',
      비고: '1 - = null',
      담당자: expect.stringMatching(/^1 [\da-f]{8} = \{id, name\}$/u) as string,
      '수정 날짜': expect.stringMatching(/^1 [\da-f]{8} = timestamp$/u) as string,
    });
  });

  it('include fields that rules leave out, so that the rules can change later', () => {
    expect(fingerprintsOf(record, compileRules('todo', { ignore: ['*'] }))).toEqual(fingerprintsOf(record, rules()));
  });

  it('do not depend on nullIsAbsent, so that the rule can change later', () => {
    const strict = compileRules('todo', { nullIsAbsent: false });
    expect(fingerprintsOf(record, strict)).toEqual(fingerprintsOf(record, rules()));
    expect(differ(printed({ ...record, 비고: [] }), record, strict)).toBe(true);
    expect(differ(printed({ ...record, 비고: [] }), record)).toBe(false);
  });

  it('name the same value types as the record itself', () => {
    expect(storedValueTypes(printed(record), rules())).toEqual(valueTypesOf(record, rules()));
    expect(storedValueTypes({ sequence: 1, record }, rules())).toEqual(valueTypesOf(record, rules()));
    expect(Object.fromEntries(valueTypesOf({ ...record, gone: undefined }, rules()))).toEqual({
      id: 'string',
      '시작 날짜': 'timestamp to the minute',
      팀: 'empty list',
      비고: 'null',
      담당자: '{id, name}',
    });
    expect(storedValueTypes({ sequence: 1, record: null }, rules())).toEqual(new Map());
  });

  it.each(['__proto__', 'constructor'])('hold a field called %s like any other', (name) => {
    const odd = Object.fromEntries([['id', 'x'] as const, [name, 'a'] as const]);
    expect(Object.keys(fingerprintsOf(odd, rules()))).toEqual(['id', name]);
    expect(differ(printed(odd), Object.fromEntries([...Object.entries(odd), [name, 'b']]))).toBe(true);
  });
});

describe('stored record: compared with an answer', () => {
  const record = { id: 't1', 제목: 'a', 비고: null };

  it('is compared by fingerprints when no image is kept', () => {
    expect(differ(printed(record), record)).toBe(false);
    expect(differ(printed(record), { 제목: 'a', id: 't1', 팀: [] })).toBe(false);
    expect(differ(printed(record), { ...record, 제목: 'b' })).toBe(true);
    expect(differ(printed(record), { ...record, 비고: 'b' })).toBe(true);
    expect(differ(printed(record), { id: 't1' })).toBe(true);
  });

  it('is compared under the rules of today, also by fingerprints', () => {
    const quiet = compileRules('todo', { ignore: ['제목'] });
    expect(differ(printed(record), { ...record, 제목: 'b' }, quiet)).toBe(false);
    expect(differ(printed(record, quiet), { ...record, 제목: 'b' })).toBe(true);
  });

  it('shows only field names when no image is kept', () => {
    expect(changesSince(printed(record), { ...record, 제목: 'b' }, rules())).toEqual([
      { field: '제목', before: null, after: null },
    ]);
  });

  it('counts as equal when a fingerprint has another version', () => {
    const other = { ...printed(record), fields: { ...fingerprintsOf(record, rules()), 제목: '0 aaaaaaaa string' } };
    expect(differ(other, { ...record, 제목: 'b' })).toBe(false);
    const longer = { ...printed(record), fields: { 제목: '12 aaaaaaaa string' } };
    expect(differ(longer, { ...record, 제목: 'b' })).toBe(false);
  });

  it('has only new fields when nothing is stored', () => {
    const fieldsOf = (stored: StoredRecord): string[] =>
      changesSince(stored, record, rules()).map(({ field }) => field);
    expect(fieldsOf({ sequence: 1, record: null })).toEqual(['id', '제목']);
    expect(fieldsOf({ sequence: 1, record: null, fields: {} })).toEqual(['id', '제목']);
  });
});

describe('stored record: modifiedAt', () => {
  const stamp = '2026-03-01T00:00:00.000Z';

  it('comes from the image, or is stored with fingerprints and with a deleted record', () => {
    expect(storedModifiedAt({ sequence: 1, record: { '수정 날짜': stamp }, modifiedAt: 'other' })).toBe(stamp);
    expect(storedModifiedAt({ sequence: 1, record: null, fields: {}, modifiedAt: stamp })).toBe(stamp);
    expect(storedModifiedAt({ sequence: 1, record: null })).toBeNull();
    expect(
      storedModifiedAt({
        sequence: 1,
        record: null,
        modifiedAt: 'other',
        gone: { at: 'x', modifiedAt: stamp },
      }),
    ).toBe(stamp);
  });
});

describe('stored record: a change of the schema is undone', () => {
  const before = { id: 'a', 추천인: 'u' };
  const now = { id: 'a' };
  const moved = { at: 'x', sweep: 's', what: 'muted', rule: 'schema' } as const;
  const left = (more: Partial<StoredRecord> = {}): StoredRecord => ({
    sequence: 1,
    record: now,
    beforeDrift: contentOf(before, rules()),
    decisions: [moved],
    ...more,
  });

  it('when the record is exactly what it was before it silently followed', () => {
    expect(isSchemaChangeUndone(left(), before, rules())).toBe(true);
    expect(isSchemaChangeUndone(left(), { ...before, 추천인: 'v' }, rules())).toBe(false);
    expect(isSchemaChangeUndone(left(), now, rules())).toBe(false);
  });

  it('but not when another decision or an event came since', () => {
    const touched = { at: 'y', sweep: 't', what: 'touched', rule: 'touch' } as const;
    expect(isSchemaChangeUndone(left({ decisions: [moved, touched] }), before, rules())).toBe(false);
    expect(isSchemaChangeUndone(left({ decisions: [] }), before, rules())).toBe(false);
    const { decisions: _trail, ...without } = left();
    expect(isSchemaChangeUndone(without, before, rules())).toBe(false);
  });

  it('but not when its content before that is not known', () => {
    const { beforeDrift: _content, ...without } = left();
    expect(isSchemaChangeUndone(without, before, rules())).toBe(false);
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
