/** Given a stored record, when the API answers, then this is decided. One row of a table is one decision. */
import { expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import type { BuiltInList } from '../../../src/crm/lists/lists.js';
import { detect, recordAfter, type Baseline, type DetectInput } from '../../../src/feed/detect/detect.js';
import { deletedRecord, removalEvent } from '../../../src/feed/detect/removal.js';
import { compileRules, type FieldRules } from '../../../src/feed/detect/rules.js';
import type { StoredRecord } from '../../../src/feed/detect/stored-record.js';

const observation = { workspace: 'acme', sweep: 'people-1', observedAt: '2026-03-01T00:00:00.000Z' };
const STAMP = '2026-02-28T09:00:00.000Z';
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
const [teamA, teamB] = minsu.팀;
const { '수신 거부 사유': _, ...withoutReason } = minsu;
const { '수정 날짜': _stamp, ...withoutStamp } = minsu;
const nfd = (record: object): UncheckedRecord =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name.normalize('NFD'), value]));

interface Given {
  /** The stored image. @defaultValue minsu */
  image?: UncheckedRecord;
  /** @defaultValue the image, with the sequence 4 */
  stored?: StoredRecord | null;
  rules?: FieldRules;
  list?: BuiltInList;
  baseline?: Baseline;
}

function inputOf(answer: object, { image = minsu, stored, rules, list = 'people', baseline }: Given = {}): DetectInput {
  const compiled = compileRules(list, rules);
  const kept: StoredRecord = { sequence: 4, record: image };
  const record = answer as UncheckedRecord;
  return {
    ...{ key: 'p1', record, rules: compiled, observation },
    ...{ stored: stored === undefined ? kept : stored, baseline: baseline ?? null },
  };
}

/** `edited 5: updated both 이름, at 2026-02-28T09:00:00.000Z`; without a time: when it was observed. */
function outcomeOf(input: DetectInput): string {
  const { kind, sequence, event } = detect(input);
  if (event === null) return `${kind} ${sequence}`;
  const { type, time, data } = event;
  expect(data.sequence).toBe(sequence);
  const fields = data.changes.map(({ field }) => ` ${field}`).join('');
  const at = time === observation.observedAt ? '' : `, at ${time}`;
  return `${kind} ${sequence}: ${type.split('.')[2] ?? ''} ${data.detectedBy}${fields}${at}`;
}

const since = '2026-03-01T10:00:00.000Z';
const NEW: Given = { stored: null, baseline: { since } };
const START = { '시작 날짜': '2026-03-03T01:00:00.000Z', id: 'p1' };
const gone = (more: object = {}): StoredRecord => ({
  ...{ sequence: 3, record: null },
  gone: { at: '2026-02-25T00:00:00.000Z', modifiedAt: minsu['수정 날짜'], ...more },
});

it.each<[string, string, object, Given?]>([
  ['nothing stored', 'created 1: created content, at 2026-01-05T01:20:00.000Z', minsu, { stored: null }],
  ['nothing stored and no time', 'created 1: created content', { id: 'p1' }, { stored: null }],
  ['another value', 'edited 5: updated content 이름', { ...minsu, 이름: '김민서' }],
  ['and another time', `edited 5: updated both 이름, at ${STAMP}`, { ...minsu, 이름: '김민서', '수정 날짜': STAMP }],
  ['and no time any more', 'edited 5: updated both 이름', { ...withoutStamp, 이름: '김민서' }],
  ['a field the system keeps', 'refreshed 5: updated content 딜 개수', { ...minsu, '딜 개수': 3 }],
  ['that and an edit', 'edited 5: updated content 딜 개수 이름', { ...minsu, '딜 개수': 3, 이름: '김민서' }],
  [
    'one kept by a rule',
    'refreshed 5: updated content 등급',
    { ...minsu, 등급: 'A' },
    { rules: { refreshed: ['등*'] } },
  ],
  ['another reference', 'edited 5: updated content 담당자', { ...minsu, 담당자: { id: 'u2', name: '담당A' } }],
  ['a renamed reference', 'refreshed 5: updated content 담당자', { ...minsu, 담당자: { id: 'u1', name: '퇴사' } }],
  ['another time only', 'touched 4', { ...minsu, '수정 날짜': STAMP }],
  ['another time under its second name', 'touched 4', { ...withoutStamp, updatedAt: STAMP }],
  ['its first name counts', 'ignored 4', { ...minsu, updatedAt: STAMP }],
  ['the second where the first is empty', 'touched 4', { ...minsu, '수정 날짜': null, updatedAt: STAMP }],
  ['the second where the first is no text', 'touched 4', { ...minsu, '수정 날짜': 7, updatedAt: STAMP }],
  [
    'another time with touch',
    `touched 5: updated timestamp, at ${STAMP}`,
    { ...minsu, '수정 날짜': STAMP },
    { rules: { touch: true } },
  ],
  ['an ignored field', 'ignored 4', { ...minsu, 이름: '김민서' }, { rules: { ignore: ['이름'] } }],
  ['a field outside only', 'ignored 4', { ...minsu, 이름: '김민서' }, { rules: { only: ['담당자'] } }],
  ['keys in another order', 'ignored 4', Object.fromEntries(Object.entries(minsu).reverse())],
  ['references in another order', 'ignored 4', { ...minsu, 팀: [teamB, teamA] }],
  ['absent for null', 'ignored 4', withoutReason],
  ['an empty list for absent', 'ignored 4', { ...minsu, '제출된 웹폼 목록': [] }],
  ['a link signed anew', 'ignored 4', { ...minsu, '프로필 사진': 'https://img.example/1.png?sig=new&se=2' }],
  ['its instants written otherwise', 'ignored 4', { ...minsu, '생성 날짜': '2026-01-05T10:20:00+09:00' }],
  ['its time written otherwise', 'ignored 4', { ...minsu, '수정 날짜': '2026-02-20T08:00:00Z' }],
  ['keys in the other Unicode form', 'ignored 4', nfd(minsu)],
  ['another spelling of a todo', 'ignored 4', { id: 'p1', 시작일: START['시작 날짜'] }, { image: START, list: 'todo' }],
  [
    'another start in it',
    'edited 5: updated content 시작일',
    { id: 'p1', 시작일: STAMP },
    { image: START, list: 'todo' },
  ],
  ['deleted before', 'created 4: created content', minsu, { stored: gone() }],
  ['deleted before, in a baseline', 'created 4: created content', minsu, { stored: gone(), baseline: 'quiet' }],
  [
    'dropped before',
    'created 4: created content, at 2026-01-05T01:20:00.000Z',
    minsu,
    { stored: gone({ dropped: true }) },
  ],
  ['a baseline', 'baselined 0', minsu, { stored: null, baseline: 'quiet' }],
  ['a baseline, and stored', 'baselined 4', { ...minsu, 이름: '김민서' }, { baseline: 'quiet' }],
  [
    'a baseline that emits',
    'baselined 1: snapshot content, at 2026-01-05T01:20:00.000Z',
    minsu,
    { stored: null, baseline: 'emit' },
  ],
  ['created since', `baselined 1: created content, at ${since}`, { id: 'p1', '생성 날짜': since }, NEW],
  [
    'changed since',
    `baselined 1: updated timestamp, at ${since}`,
    { id: 'p1', '생성 날짜': '2026-03-01T09:59:59.999Z', '수정 날짜': '2026-03-01T19:00:00.000+09:00' },
    NEW,
  ],
  ['neither', 'baselined 0', { createdAt: '2026-03-01T09:59:59.999Z', '수정 날짜': '2026-03-01T09:59:59.999Z' }, NEW],
  ['no times', 'baselined 0', { id: 'p1' }, NEW],
  ['times that are none', 'baselined 0', { '생성 날짜': 'yesterday', '수정 날짜': 'today' }, NEW],
  ...(
    [
      [1, '1'],
      [0, false],
      ['', null],
      ['a', ['a']],
      [
        ['x', 'y'],
        ['x', 'z'],
      ],
    ] as const
  ).map(([was, is]): [string, string, object, Given] => [
    `${JSON.stringify(is)} for ${JSON.stringify(was)}`,
    'edited 5: updated content 등급',
    { ...minsu, 등급: is },
    { image: { ...minsu, 등급: was } },
  ]),
])('detect: %s: %s', (_what, expected, answer, given) => {
  expect(outcomeOf(inputOf(answer, given))).toBe(expected);
});

const FACTS = { sequence: 5, class: 'edited', observedAt: observation.observedAt, sweep: 'people-1' };
const ENVELOPE = {
  specversion: '1.0',
  id: expect.stringMatching(/^evt_[0-9a-f]{32}$/u) as string,
  source: '/workspaces/acme',
  subject: 'p1',
  datacontenttype: 'application/json',
};

it('detect: an event has the record before and after, and what changed; when it reappeared, that it did', () => {
  const after = { ...minsu, 담당자: { id: 'u2', name: '담당B' }, '수정 날짜': STAMP };
  const changes = [{ field: '담당자', before: minsu.담당자, after: after.담당자 }];
  expect(detect(inputOf(after)).event).toEqual({
    ...{ ...ENVELOPE, type: 'crm.person.updated', time: STAMP },
    data: { before: minsu, after, changes, detectedBy: 'both', ...FACTS },
  });
  const reappeared = { before: null, after: minsu, changes: [], detectedBy: 'content', reappeared: true };
  expect(detect(inputOf(minsu, { stored: gone() })).event?.data).toEqual({ ...reappeared, ...FACTS, sequence: 4 });
});

it('detect: a deleted record has its last image in the event, and only its sequence and time are kept', () => {
  const rules = compileRules('people');
  const removed = { rules, observation };
  const event = removalEvent({ key: 'p1', record: minsu, sequence: 5, mergedInto: 'p9' }, removed);
  expect(event).toEqual({
    ...{ ...ENVELOPE, type: 'crm.person.deleted', time: observation.observedAt },
    data: { before: minsu, after: null, changes: [], detectedBy: 'content', ...FACTS, mergedInto: 'p9' },
  });
  const kept = removalEvent({ key: 'p1', record: minsu, sequence: 5, mergedInto: undefined }, removed).data;
  expect('mergedInto' in kept).toBe(false);
  const step = { at: observation.observedAt, sweep: 'people-1', event: event.id };
  const decisions = [{ at: STAMP, sweep: 's', what: 'created', event: 'evt_1' }] as const;
  expect(deletedRecord({ sequence: 4, record: minsu, decisions }, { ...step, sequence: 5 }, rules)).toStrictEqual({
    ...{ sequence: 5, record: null, gone: { at: step.at, modifiedAt: minsu['수정 날짜'] } },
    decisions: [...decisions, { ...step, what: 'deleted' }],
  });
});

it('detect: a row without an id has its key as id in events', () => {
  const input = { ...inputOf({ type: 'owner' }, { image: { type: 'stage' } }), key: 'content-abc' };
  const { before, after } = detect(input).event?.data ?? {};
  expect([before, after]).toEqual(['stage', 'owner'].map((type) => ({ id: 'content-abc', type })));
  const removal = { key: 'content-abc', record: { type: 'stage' }, sequence: 2 };
  expect(removalEvent(removal, input).data.before).toEqual({ id: 'content-abc', type: 'stage' });
});

it('detect: a decision names 100 of very many changed fields and counts the others', () => {
  const many = Array.from({ length: 1_000 }, (_n, n) => [`field ${String(n).padStart(4, '0')}`, n] as const);
  const input = inputOf({ ...minsu, ...Object.fromEntries(many) });
  const [decision] = recordAfter(input, detect(input)).decisions ?? [];
  expect(decision).toMatchObject({ what: 'edited', furtherFields: 900 });
  expect(decision?.fields).toEqual(many.slice(0, 100).map(([name]) => name));
});
