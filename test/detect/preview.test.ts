import { describe, expect, it } from 'vitest';
import { previewRules } from '../../src/detect/preview.js';
import { removalEvent } from '../../src/detect/removal.js';
import { compileRules, type FieldRules } from '../../src/detect/rules.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { runCase, observation } from '../support/detect-case.js';

const before = { id: 'p1', 이름: '김민수', 등급: 'A', '딜 개수': 1 };
const [renamed, counted] = [
  { ...before, 이름: '김민서', 등급: 'B' },
  { ...before, '딜 개수': 2 },
];
const sent = (record: object, options: { rules?: FieldRules; images?: boolean; before?: object } = {}): ChangeEvent =>
  runCase({
    stored: { sequence: 1, record: { ...before, ...options.before } },
    record: { ...before, ...record },
    rules: compileRules('people', options.rules),
    images: options.images ?? true,
  }).detection.event!;

const preview = (event: ChangeEvent, rules: FieldRules) => {
  const { events } = previewRules([event], compileRules('people', rules));
  return events.map(({ outcome, before: shownBefore, after, rule }) => ({ outcome, before: shownBefore, after, rule }));
};

describe('rules test: one event', () => {
  it('is the same when the rules agree', () => {
    expect(preview(sent(renamed), {})).toEqual([]);
    expect(preview(sent(renamed), { ignore: ['딜*'], refreshed: ['이름'] })).toEqual([]);
  });

  it('is muted, by the first rule that mutes it', () => {
    expect(preview(sent(renamed), { ignore: ['이름', '등*'] })).toEqual([
      { outcome: 'muted', before: ['등급', '이름'], after: [], rule: 'ignore: 등*' },
    ]);
    expect(preview(sent(renamed), { only: ['담당자'] })).toMatchObject([{ outcome: 'muted', rule: 'only' }]);
    expect(preview(sent(renamed), { ignore: ['*'], touch: true })).toMatchObject([{ outcome: 'muted' }]);
  });

  it('has fewer fields, by the rule that leaves one out', () => {
    expect(preview(sent(renamed), { only: ['이름'] })).toEqual([
      { outcome: 'different', before: ['등급', '이름'], after: ['이름'], rule: 'only' },
    ]);
  });

  it('has more fields when its own rules had left some out', () => {
    expect(preview(sent(renamed, { rules: { ignore: ['등급'] } }), {})).toEqual([
      { outcome: 'different', before: ['이름'], after: ['등급', '이름'], rule: undefined },
    ]);
  });

  it('has another class', () => {
    const fields = ['등급', '이름'];
    expect(preview(sent(renamed), { refreshed: ['이름', '등급'] })).toEqual([
      { outcome: 'different', before: fields, after: fields, rule: undefined },
    ]);
    expect(preview(sent(counted), {})).toEqual([]);
    const withCounter = sent({ 이름: '김민서', '딜 개수': 2 });
    expect(preview(withCounter, { only: ['딜 개수'] })).toMatchObject([{ outcome: 'different', after: ['딜 개수'] }]);
  });

  it('is muted when only kinds of empty values differed', () => {
    const event = sent({ 비고: null }, { rules: { nullIsAbsent: false } });
    expect(preview(event, {})).toEqual([{ outcome: 'muted', before: ['비고'], after: [], rule: 'same meaning' }]);
  });

  it('is decided by field names when events carry no contents', () => {
    const event = sent(renamed, { images: false });
    expect(preview(event, { ignore: ['등급'] })).toEqual([
      { outcome: 'different', before: ['등급', '이름'], after: ['이름'], rule: 'ignore: 등급' },
    ]);
    expect(preview(event, {})).toEqual([]);
  });
});

describe('rules test: a touch', () => {
  const touch = () =>
    sent(
      { '수정 날짜': '2026-03-02T00:00:00.000Z' },
      { rules: { touch: true }, before: { '수정 날짜': '2026-03-01T00:00:00.000Z' } },
    );

  it('stays when touches are wanted, and is muted otherwise', () => {
    expect(touch().data.changes).toEqual([]);
    expect(preview(touch(), { touch: true })).toMatchObject([]);
    expect(preview(touch(), {})).toEqual([{ outcome: 'muted', before: [], after: [], rule: 'touch' }]);
  });

  it('is an update when the rules distinguish what it contains', () => {
    const event = sent(
      { '수정 날짜': '2026-03-02T00:00:00.000Z', 비고: null },
      { rules: { touch: true }, before: { '수정 날짜': '2026-03-01T00:00:00.000Z' } },
    );
    const { events } = previewRules([event], compileRules('people', { nullIsAbsent: false }));
    const { id, type, subject } = event;
    expect(events).toStrictEqual([{ id, type, subject, outcome: 'different', before: [], after: ['비고'] }]);
  });
});

describe('rules test: events of other kinds', () => {
  it('are the same under any rules', () => {
    const created = runCase({ record: before }).detection.event!;
    const deleted = removalEvent(
      { key: 'p1', record: before, sequence: 2 },
      { rules: compileRules('people'), observation },
    );
    const baselined = runCase({
      record: { ...before, '수정 날짜': '2026-03-01T00:00:00.000Z' },
      baseline: { since: '2026-03-01T00:00:00.000Z' },
    }).detection.event!;
    expect(baselined.type).toBe('crm.person.updated');
    expect([created, baselined, deleted].flatMap((event) => preview(event, { only: [] }))).toEqual([]);
  });
});

describe('rules test: many events', () => {
  it('counts them all and names those that would not be the same', () => {
    const [muted, different, same] = [sent({ 등급: 'B' }), sent(renamed), sent(counted)];
    expect(previewRules([muted, different, same, same], compileRules('people', { ignore: ['등급'] }))).toEqual({
      looked: 4,
      counts: { same: 2, different: 1, muted: 1 },
      events: [
        {
          id: muted.id,
          type: 'crm.person.updated',
          subject: 'p1',
          outcome: 'muted',
          before: ['등급'],
          after: [],
          rule: 'ignore: 등급',
        },
        {
          id: different.id,
          type: 'crm.person.updated',
          subject: 'p1',
          outcome: 'different',
          before: ['등급', '이름'],
          after: ['이름'],
          rule: 'ignore: 등급',
        },
      ],
    });
  });
});
