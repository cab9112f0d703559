import { describe, expect, it } from 'vitest';
import { detect, type DetectInput } from '../../../src/feed/detect/detect.js';
import { compileRules, type FieldRules } from '../../../src/feed/detect/rules.js';
import { contentOf } from '../../../src/feed/detect/stored-record.js';
import type { BuiltInList } from '../../../src/crm/lists/lists.js';

const observation = { workspace: 'acme', sweep: 'people-1', observedAt: '2026-03-01T00:00:00.000Z' };
const minsu = {
  id: 'p1',
  이름: '김민수',
  담당자: { id: 'u1', name: '담당A' },
  팀: [
    { id: 't1', name: '1팀' },
    { id: 't2', name: '2팀' },
  ],
  '프로필 사진': 'https://img.example/1.png?sig=old&se=1',
  '딜 개수': 2,
  '수신 거부 사유': null,
  '생성 날짜': '2026-01-05T01:20:00.000Z',
  '수정 날짜': '2026-02-20T08:00:00.000Z',
};

function detectChange(
  after: DetectInput['record'],
  options: { before?: DetectInput['record']; rules?: FieldRules; list?: BuiltInList } = {},
) {
  const { before = minsu, rules, list = 'people' } = options;
  return detect({
    key: 'p1',
    record: after,
    stored: { sequence: 4, record: before },
    baseline: null,
    rules: compileRules(list, rules),
    observation,
  });
}

describe('detect: a record without a stored record', () => {
  it('is created, at its own creation time, as the first of its sequence', () => {
    const { kind, event } = detect({
      ...{ key: 'p1', record: minsu, stored: null, baseline: null },
      ...{ rules: compileRules('people'), observation },
    });
    expect(kind).toBe('created');
    expect(event).toEqual({
      specversion: '1.0',
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/) as string,
      source: '/workspaces/acme',
      type: 'crm.person.created',
      subject: 'p1',
      time: '2026-01-05T01:20:00.000Z',
      datacontenttype: 'application/json',
      data: {
        before: null,
        after: minsu,
        changes: [],
        sequence: 1,
        class: 'edited',
        detectedBy: 'content',
        observedAt: '2026-03-01T00:00:00.000Z',
        sweep: 'people-1',
      },
    });
  });
});

describe('detect: a record whose content changed', () => {
  it('is updated with the fields before and after, at the time of its modifiedAt', () => {
    const after = { ...minsu, 담당자: { id: 'u2', name: '담당B' }, '수정 날짜': '2026-02-28T09:00:00.000Z' };
    const { kind, sequence, event } = detectChange(after);
    expect([kind, sequence, event?.type, event?.time]).toEqual([
      'edited',
      5,
      'crm.person.updated',
      '2026-02-28T09:00:00.000Z',
    ]);
    expect(event?.data).toEqual({
      before: minsu,
      after,
      changes: [{ field: '담당자', before: { id: 'u1', name: '담당A' }, after: { id: 'u2', name: '담당B' } }],
      sequence: 5,
      class: 'edited',
      detectedBy: 'both',
      observedAt: '2026-03-01T00:00:00.000Z',
      sweep: 'people-1',
    });
  });

  it('is updated at the time of observation when its modifiedAt did not change', () => {
    const { event } = detectChange({ ...minsu, 이름: '김민서' });
    expect([event?.data.detectedBy, event?.time]).toEqual(['content', '2026-03-01T00:00:00.000Z']);
  });

  it('is refreshed when only fields kept by the system changed', () => {
    expect(detectChange({ ...minsu, '딜 개수': 3 }).kind).toBe('refreshed');
    expect(detectChange({ ...minsu, '딜 개수': 3, 이름: '김민서' }).kind).toBe('edited');
    expect(detectChange({ ...minsu, 등급: 'A' }, { rules: { refreshed: ['등*'] } }).kind).toBe('refreshed');
  });

  it('reports a renamed reference once, as a change of its field, which no edit of the record made', () => {
    const renamed = { ...minsu, 담당자: { id: 'u1', name: '담당A (퇴사)' } };
    const { kind, event } = detectChange(renamed);
    expect([kind, event?.data.changes.map(({ field }) => field)]).toEqual(['refreshed', ['담당자']]);
    expect(detectChange({ ...renamed, 이름: '김민서' }).kind).toBe('edited');
  });

  it.each<[string, object]>([
    ['refreshed', { 담당자: { id: 'u1', name: '담당A (퇴사)' } }],
    ['refreshed', { '딜 개수': 3, '수정 날짜': '2026-02-28T09:00:00.000Z' }],
    ['edited', { 이름: '김민서' }],
  ])('is %s without images too: %j', (kind, changes) => {
    const rules = compileRules('people', { images: false });
    const stored = { sequence: 4, record: null, content: contentOf(minsu, rules), modifiedAt: minsu['수정 날짜'] };
    const input = { key: 'p1', record: { ...minsu, ...changes }, stored, baseline: null, rules, observation };
    expect(detect(input).kind).toBe(kind);
  });
});

describe('detect: a record with the same meaning', () => {
  const [first, second] = minsu.팀;
  it.each([
    ['key order', Object.fromEntries(Object.entries(minsu).reverse())],
    ['order inside a set of references', { ...minsu, 팀: [second, first] }],
    ['null against absent', (({ '수신 거부 사유': _, ...rest }) => rest)(minsu)],
    ['an empty list where there was nothing', { ...minsu, '제출된 웹폼 목록': [] }],
    ['a rotated signature', { ...minsu, '프로필 사진': 'https://img.example/1.png?sig=new&se=2' }],
    [
      'the same instants written otherwise',
      { ...minsu, '생성 날짜': '2026-01-05T10:20:00+09:00', '수정 날짜': '2026-02-20T08:00:00Z' },
    ],
    [
      'Unicode composition of a key',
      Object.fromEntries(Object.entries(minsu).map(([k, v]) => [k.normalize('NFD'), v])),
    ],
  ])('makes no event: %s', (_what, after) => {
    expect(detectChange(after as DetectInput['record'])).toEqual({ kind: 'ignored', sequence: 4, event: null });
  });

  it('is touched, not updated, when only its modifiedAt changed', () => {
    expect(detectChange({ ...minsu, '수정 날짜': '2026-02-28T09:00:00.000Z' }).kind).toBe('touched');
  });

  it('yields no event when only ignored fields changed, or none under only', () => {
    const after = { ...minsu, 이름: '김민서' };
    expect(detectChange(after, { rules: { ignore: ['이름'] } }).kind).toBe('ignored');
    expect(detectChange(after, { rules: { only: ['담당자'] } }).kind).toBe('ignored');
  });

  it('is equal in both spellings of the todo fields', () => {
    const before = { id: 'p1', '시작 날짜': '2026-03-03T01:00:00.000Z', 완료: false };
    const after = { id: 'p1', 시작일: '2026-03-03T01:00:00.000Z', 완료: false };
    expect(detectChange(after, { before, list: 'todo' }).kind).toBe('ignored');
    expect(
      detectChange({ ...after, 시작일: '2026-03-04T01:00:00.000Z' }, { before, list: 'todo' }).event?.data.changes,
    ).toEqual([{ field: '시작일', before: '2026-03-03T01:00:00.000Z', after: '2026-03-04T01:00:00.000Z' }]);
  });
});

describe('detect: a deleted record that is shown again', () => {
  const gone = { at: '2026-02-25T00:00:00.000Z', modifiedAt: '2026-02-20T08:00:00.000Z' };

  it.each([null, 'quiet'] as const)(
    'is created, with the next sequence, when it is observed; baseline %s',
    (baseline) => {
      const stored = { sequence: 3, record: null, gone };
      expect(
        detect({ key: 'p1', record: minsu, stored, baseline, rules: compileRules('people'), observation }),
      ).toMatchObject({
        kind: 'created',
        sequence: 4,
        event: {
          type: 'crm.person.created',
          time: observation.observedAt,
          data: { before: null, changes: [], sequence: 4, class: 'edited', detectedBy: 'content', reappeared: true },
        },
      });
    },
  );
});

describe('detect: values', () => {
  it.each([
    [1, '1'],
    [0, false],
    ['', null],
    ['a', ['a']],
    [
      ['x', 'y'],
      ['y', 'x'],
    ],
  ])('%j and %j are different: nothing is coerced', (before, after) => {
    expect(detectChange({ ...minsu, 등급: after }, { before: { ...minsu, 등급: before } }).kind).toBe('edited');
  });
});
