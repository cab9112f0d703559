import { describe, expect, it } from 'vitest';
import { canonicalFields } from '../../src/detect/canonical.js';
import {
  appearedAt,
  bothSides,
  contentOf,
  earlierWith,
  storedValueTypes,
  valueTypesOf,
  isSchemaUndone,
  lastEventAt,
  parseFingerprint,
  fingerprintsOf,
  storedModifiedAt,
  withDecision,
  type StoredRecord,
  type Decision,
} from '../../src/detect/known.js';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { compileRules } from '../../src/detect/rules.js';

const rules = () => compileRules('todo');
const printed = (record: UncheckedRecord, by = rules()): StoredRecord => ({
  sequence: 1,
  record: null,
  fields: fingerprintsOf(record, by),
});
const differ = (known: StoredRecord, record: UncheckedRecord, by = rules()): boolean => {
  const [before, after] = bothSides(known, record, by);
  return contentOf(before) !== contentOf(after);
};

describe('a print', () => {
  it('tells its version, both its digests and its form, however many words that has', () => {
    expect(parseFingerprint('2 AAAAAAAAAAA = list of {id, name}')).toEqual({
      version: '2',
      meaning: 'AAAAAAAAAAA',
      exact: null,
      valueType: 'list of {id, name}',
    });
    expect(parseFingerprint('2 AAAAAAAAAAA BBBBBBBBBBB object')).toMatchObject({
      exact: 'BBBBBBBBBBB',
      valueType: 'object',
    });
    expect(parseFingerprint('2 - = empty list')).toMatchObject({ meaning: null, exact: null, valueType: 'empty list' });
  });

  it('of the first form had one digest', () => {
    const first = { version: '1', meaning: 'AAAAAAAAAAA', exact: null, valueType: 'list of {id, name}' };
    expect(parseFingerprint('1 AAAAAAAAAAA list of {id, name}')).toEqual(first);
  });

  it('that is cut off says nothing', () => {
    expect(parseFingerprint('')).toEqual({ version: '', meaning: null, exact: null, valueType: '' });
  });

  it('has a second digest where a nothing further in would tell it apart', () => {
    const of = (비고: unknown): string => fingerprintsOf({ 비고 }, rules())['비고']!;
    expect(of({ a: 1 })).toMatch(/^2 [\w-]{11} = \{a\}$/u);
    expect(of({ a: 1, b: null })).toMatch(/^2 [\w-]{11} [\w-]{11} \{a, b\}$/u);
    expect(parseFingerprint(of({ a: 1, b: null })).meaning).toBe(parseFingerprint(of({ a: 1 })).meaning);
    const strict = compileRules('todo', { nullIsAbsent: false });
    expect(differ(printed({ 비고: { a: 1, b: null } }), { 비고: { a: 1 } }, strict)).toBe(true);
    expect(differ(printed({ 비고: { a: 1, b: null } }), { 비고: { a: 1 } })).toBe(false);
  });
});

describe('the prints of a record', () => {
  const record = {
    id: 't1',
    시작일: '2026-03-01T00:00:00.000Z',
    팀: [],
    비고: null,
    담당자: { id: 'u', name: '비밀' },
  };

  it('hold of each field a digest and a form under its written name, and nothing of its value', () => {
    expect(fingerprintsOf({ ...record, '수정 날짜': '2026-03-01T00:00:00.001Z' }, rules())).toEqual({
      id: expect.stringMatching(/^2 [\w-]{11} = string$/u) as string,
      '시작 날짜': expect.stringMatching(/^2 [\w-]{11} = timestamp to the minute$/u) as string,
      팀: '2 - = empty list',
      비고: '2 - = null',
      담당자: expect.stringMatching(/^2 [\w-]{11} = \{id, name\}$/u) as string,
      '수정 날짜': expect.stringMatching(/^2 [\w-]{11} = timestamp$/u) as string,
    });
  });

  it('hold a field that rules leave out as well, so that other rules can be judged later', () => {
    expect(fingerprintsOf(record, compileRules('todo', { ignore: ['*'] }))).toEqual(fingerprintsOf(record, rules()));
  });

  it('hold the same where the rules tell nothings apart, so that these rules can be switched', () => {
    const strict = compileRules('todo', { nullIsAbsent: false });
    expect(fingerprintsOf(record, strict)).toEqual(fingerprintsOf(record, rules()));
    expect(differ(printed({ ...record, 비고: [] }), record, strict)).toBe(true);
    expect(differ(printed({ ...record, 비고: [] }), record)).toBe(false);
  });

  it('say which forms there were, as the record itself does', () => {
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

describe('two images of a record', () => {
  const record = { id: 't1', 제목: 'a', 비고: null };

  it('are compared by prints where prints are all there is: what means the same is the same', () => {
    expect(differ(printed(record), record)).toBe(false);
    expect(differ(printed(record), { 제목: 'a', id: 't1', 팀: [] })).toBe(false);
    expect(differ(printed(record), { ...record, 제목: 'b' })).toBe(true);
    expect(differ(printed(record), { ...record, 비고: 'b' })).toBe(true);
    expect(differ(printed(record), { id: 't1' })).toBe(true);
  });

  it('are judged by the rules of today, prints too', () => {
    const quiet = compileRules('todo', { ignore: ['제목'] });
    expect(differ(printed(record), { ...record, 제목: 'b' }, quiet)).toBe(false);
    expect(differ(printed(record, quiet), { ...record, 제목: 'b' })).toBe(true);
  });

  it('show the names of the fields alone where prints are all there is', () => {
    expect([...bothSides(printed(record), record, rules())[0].values()]).toEqual([
      { name: 'id', value: null, text: expect.stringMatching(/^[\w-]{11}$/u) as string },
      { name: '제목', value: null, text: expect.stringMatching(/^[\w-]{11}$/u) as string },
    ]);
  });

  it('are the same as long as some print is of another canonical form: it says nothing', () => {
    const other = { ...printed(record), fields: { ...fingerprintsOf(record, rules()), 제목: '0 AAAAAAAAAAA string' } };
    expect(differ(other, { ...record, 제목: 'b' })).toBe(false);
    const longer = { ...printed(record), fields: { 제목: '12 AAAAAAAAAAA string' } };
    expect(differ(longer, { ...record, 제목: 'b' })).toBe(false);
  });

  it('are all new where nothing is remembered', () => {
    const [before, after] = bothSides({ sequence: 1, record: null }, record, rules());
    expect([[...before.keys()], [...after.keys()]]).toEqual([[], ['id', '제목']]);
    expect([...bothSides({ sequence: 1, record: null, fields: {} }, record, rules())[0].keys()]).toEqual([]);
  });
});

describe('the stamp that is remembered', () => {
  const stamp = '2026-03-01T00:00:00.000Z';

  it("is the image's own; beside prints, and of a deleted record, the one kept", () => {
    expect(storedModifiedAt({ sequence: 1, record: { '수정 날짜': stamp }, modifiedAt: 'other' })).toBe(stamp);
    expect(storedModifiedAt({ sequence: 1, record: null, fields: {}, modifiedAt: stamp })).toBe(stamp);
    expect(storedModifiedAt({ sequence: 1, record: null })).toBeNull();
    expect(
      storedModifiedAt({
        sequence: 1,
        record: null,
        modifiedAt: 'other',
        gone: { at: 'x', modifiedAt: stamp, content: 'c' },
      }),
    ).toBe(stamp);
  });
});

describe('the contents before', () => {
  it('are the last three that differ, the newest first', () => {
    const known = (earlier?: string[]): StoredRecord => ({ sequence: 1, record: {}, ...(earlier && { earlier }) });
    expect(earlierWith(known(), 'a')).toEqual(['a']);
    expect(earlierWith(known(['b', 'c', 'd']), 'a')).toEqual(['a', 'b', 'c']);
    expect(earlierWith(known(['b', 'a', 'd']), 'a')).toEqual(['a', 'b', 'd']);
  });
});

describe('a change of the schema is undone', () => {
  const before = { id: 'a', 추천인: 'u' };
  const now = { id: 'a' };
  const moved = { at: 'x', sweep: 's', what: 'muted', rule: 'schema' } as const;
  const left = (more: Partial<StoredRecord> = {}): StoredRecord => ({
    sequence: 1,
    record: now,
    earlier: [contentOf(canonicalFields(before, rules()))],
    decisions: [moved],
    ...more,
  });

  it('where the record is just as it was before it silently moved along', () => {
    expect(isSchemaUndone(left(), before, rules())).toBe(true);
    expect(isSchemaUndone(left(), { ...before, 추천인: 'v' }, rules())).toBe(false);
    expect(isSchemaUndone(left(), now, rules())).toBe(false);
  });

  it('but not where anything else was decided of it since, or it moved by an event', () => {
    const touched = { at: 'y', sweep: 't', what: 'touched', rule: 'touch' } as const;
    expect(isSchemaUndone(left({ decisions: [moved, touched] }), before, rules())).toBe(false);
    expect(isSchemaUndone(left({ decisions: [] }), before, rules())).toBe(false);
    const { decisions: _trail, ...without } = left();
    expect(isSchemaUndone(without, before, rules())).toBe(false);
  });

  it('but not where it is as it was longer ago, or nothing is known of that', () => {
    const [content = ''] = left().earlier ?? [];
    expect(isSchemaUndone(left({ earlier: ['other', content] }), before, rules())).toBe(false);
    const { earlier: _earlier, ...without } = left();
    expect(isSchemaUndone(without, before, rules())).toBe(false);
  });
});

describe('the trail of decisions', () => {
  const entry = (what: Decision['what'], more: Partial<Decision> = {}): Decision => ({
    at: '2026-03-01T00:00:00.000Z',
    sweep: 's1',
    what,
    ...more,
  });
  const later = { at: '2026-03-02T00:00:00.000Z', sweep: 's2' };

  it('keeps the last five', () => {
    const events = Array.from({ length: 7 }, (_, n) => entry('edited', { event: `evt_${n}` }));
    const kept = events.reduce<readonly Decision[]>((trail, one) => withDecision(trail, one), []);
    expect(kept).toEqual(events.slice(2));
    expect(withDecision(undefined, events[0]!)).toEqual([events[0]]);
  });

  it('counts the same silence up instead of repeating it, with the time of the last', () => {
    const events = [entry('created', { event: 'evt_1' }), entry('edited', { event: 'evt_2' })];
    const once = [...events, entry('muted', { rule: 'only' })];
    const twice = withDecision(once, entry('muted', { rule: 'only', ...later }));
    expect(twice).toEqual([...events, entry('muted', { rule: 'only', ...later, times: 2 })]);
    expect(withDecision(twice, entry('muted', { rule: 'only' })).at(-1)?.times).toBe(3);
  });

  it.each([
    ['another rule', entry('muted', { rule: 'only' }), entry('muted', { rule: 'ignore: x' })],
    ['another word', entry('stale'), entry('muted')],
    ['an event after a silence', entry('edited'), entry('edited', { event: 'evt_1' })],
    ['a silence after an event', entry('touched', { event: 'evt_1' }), entry('touched')],
    ['two events', entry('edited', { event: 'evt_1' }), entry('edited', { event: 'evt_2' })],
  ])('tells %s apart', (_what, first, second) => {
    expect(withDecision([first], second)).toEqual([first, second]);
  });

  it('knows when the last event was, and when the record was first seen or seen again', () => {
    const at = (day: number): { at: string } => ({ at: `2026-03-0${day}T00:00:00.000Z` });
    const trail = [
      entry('created', { ...at(1), event: 'evt_1' }),
      entry('reappeared', { ...at(2), event: 'evt_2' }),
      entry('edited', { ...at(3), event: 'evt_3' }),
      entry('muted', { ...at(4), rule: 'only' }),
    ];
    const known = (of: Decision[]): StoredRecord => ({ sequence: 1, record: {}, decisions: of });
    expect([lastEventAt(known(trail)), appearedAt(known(trail))]).toEqual([at(3).at, at(2).at]);
    expect(appearedAt(known(trail.slice(0, 1)))).toBe(at(1).at);
    expect([lastEventAt(known(trail.slice(3))), appearedAt(known(trail.slice(2)))]).toEqual([null, null]);
    const unseen = { sequence: 1, record: {} };
    expect([lastEventAt(unseen), appearedAt(unseen)]).toEqual([null, null]);
  });
});
