import { describe, expect, it } from 'vitest';
import * as drafts from '../../../../page/rules/draft.js';
import type { Operator, Pair, RuleData } from '../../../../page/rules/draft.js';
import { sentenceOf } from '../../../../page/rules/sentence.js';
import { readValue, type Kind } from '../../../../page/rules/values.js';

const RULE: RuleData = { id: 'a', to: '영업 채팅', on: ['crm.person.updated'] };
const of = (kind: Kind) => ({ kind, timeZone: 'Asia/Seoul' });

/** As a person types it, key by key. */
function typed(field: string, operator: Operator, { kind, ...texts }: { kind: Kind } & Record<string, string>): Pair {
  return Object.entries(texts).reduce<Pair>(
    (pair, [name, text]) =>
      Array.from(text).reduce((one, _key, at) => drafts.withValue(one, name, text.slice(0, at + 1), of(kind)), pair),
    drafts.pairOf(field, operator, RULE),
  );
}

function draftWith(...conditions: Pair[]): drafts.Draft {
  return { rule: RULE, conditions, isAny: false, people: [], teams: [] };
}

const saidIn = (language: 'ko' | 'en', ...conditions: Pair[]): string =>
  sentenceOf(draftWith(...conditions), { language, word: () => (language === 'ko' ? '고객' : 'person') }).replaceAll(
    '**',
    '',
  );

describe('rule form', () => {
  it.each<[typed: string, read: number | null]>([
    ['12.5', 12.5],
    ['-3', -3],
    ['−0.5', -0.5],
    ['10,000,000', 10_000_000],
    [' 1,000,000원 ', 1_000_000],
    ['1천만', 10_000_000],
    ['3억', 300_000_000],
    ['1.1억', 110_000_000],
    ['1억 5천만 원', 150_000_000],
    ['5만3천2백', 53_200],
    ['만', 10_000],
    ['１２', 12],
    ['1,5', null],
    ['12.5.1', null],
    ['abc', null],
    ['원', null],
    ['20%', null],
    ['1e400', null],
    ['99999999999999999999', null],
  ])('rule form: in a field of numbers, %s is %s', (text, read) => {
    expect(readValue(text, 'gte', of('number'))).toBe(read);
  });

  it('rule form: what is typed stays as it is, and is read by the type of the field', () => {
    const pair = typed('예상 금액', 'gte', { kind: 'number', gte: '10,000,000' });
    expect(drafts.textIn(pair, 'gte')).toBe('10,000,000');
    expect(drafts.ruleOf(draftWith(pair))?.where).toEqual({ 'after.예상 금액': { gte: 10_000_000 } });
    const grade = typed('등급', 'becomes', { kind: 'text', becomes: ' A ' });
    expect(drafts.ruleOf(draftWith(grade))?.where).toEqual({ 등급: { becomes: 'A' } });
    const code = typed('코드', 'becomes', { kind: 'text', becomes: '007' });
    expect(drafts.ruleOf(draftWith(code))?.where).toEqual({ 코드: { becomes: '007' } });
    const vip = drafts.withValue(drafts.pairOf('VIP 여부', 'becomes', RULE), 'becomes', 'true', of('boolean'));
    expect(drafts.ruleOf(draftWith(vip))?.where).toEqual({ 'VIP 여부': { becomes: true } });
    expect(saidIn('ko', vip)).toBe('고객의 VIP 여부가 예가 되면 영업 채팅에 바로 알림');
    expect(saidIn('en', vip)).toBe('When VIP 여부 of a person becomes yes, notify 영업 채팅, at once');
    const day = typed('계약일', 'lt', { kind: 'time', lt: '2026-12-01' });
    expect(drafts.ruleOf(draftWith(day))?.where).toEqual({ 'after.계약일': { lt: '2026-12-01T00:00:00+09:00' } });
  });

  it.each<[string, Pair, string]>([
    ['a number', typed('금액', 'gte', { kind: 'number', gte: '많이' }), 'number'],
    ['an amount', typed('금액', 'rises', { kind: 'number', by: '0' }), 'by'],
    ['days', typed('계약일', 'inNext', { kind: 'time', inNext: '칠' }), 'days'],
    ['the value from before', typed('등급', 'fromTo', { kind: 'text', from: 'A', to: 'A' }), 'same'],
  ])('rule form: what is not %s is refused beside the field and never saved', (_what, pair, fault) => {
    expect(drafts.valuesOf(pair).map((name) => drafts.faultOf(pair, name))).toContain(fault);
    expect(drafts.isComplete(draftWith(pair))).toBe(false);
  });

  it('rule form: an empty limit of messages, or an empty time of day, is not complete', () => {
    for (const often of [{ mostPerMinute: 0 }, { digest: { at: '' } }])
      expect(drafts.isComplete({ ...draftWith(), rule: { ...RULE, ...often } })).toBe(false);
    expect(drafts.isComplete({ ...draftWith(), rule: { ...RULE, mostPerMinute: 20 } })).toBe(true);
  });

  it('rule form: from and to of one field are a range, which is opened as two conditions', () => {
    const range = [
      typed('예상 금액', 'gte', { kind: 'number', gte: '1천만' }),
      typed('예상 금액', 'lte', { kind: 'number', lte: '5천만' }),
    ];
    const rule = drafts.ruleOf(draftWith(...range));
    expect(rule?.where).toEqual({ 'after.예상 금액': { gte: 10_000_000, lte: 50_000_000 } });
    expect(drafts.draftOf(rule!)?.conditions).toEqual(range.map(([key, operand]) => [key, operand]));
    expect(saidIn('ko', ...range)).toContain('예상 금액이 10,000,000 이상이고 예상 금액이 50,000,000 이하이면');
    expect(drafts.ruleOf(draftWith(range[0]!, range[0]!))).toBeNull();
  });

  it.each<[Record<string, unknown>, ko: string, en: string]>([
    [{ 'after.등급': { not: ['A', 'B'] } }, '등급이 A 또는 B가 아니면', '등급 of a person is not A or B'],
    [{ 'after.VIP 여부': [true] }, 'VIP 여부가 예이면', 'VIP 여부 of a person is yes'],
    [
      { 'after.계약일': { lt: '2026-12-01T00:00:00+09:00' } },
      '계약일이 2026년 12월 1일 (화) 전이면',
      '계약일 of a person is before Tue 1 Dec 2026',
    ],
    [
      { 'after.계약일': { inNext: '7d' } },
      '계약일이 앞으로 7일 안이면',
      '계약일 of a person is within the next 7 days',
    ],
    [{ 'after.연락일': { ago: '30d' } }, '연락일이 30일 이상 지났으면', '연락일 of a person is 30 days ago or longer'],
    [{ 'after.담당자': { not: ['가나'] } }, '담당자가 가나가 아니면', '담당자 of a person is not 가나'],
  ])('rule form: %j is read as a sentence, opened and saved as it is', (where, ko, en) => {
    const draft = drafts.draftOf({ ...RULE, where })!;
    expect(saidIn('ko', ...draft.conditions)).toContain(ko);
    expect(saidIn('en', ...draft.conditions)).toContain(en);
    expect(drafts.ruleOf(draft)?.where).toEqual(where);
  });

  it('rule form: what the system counts matches a state only where that is asked for', () => {
    const [state, change] = [
      drafts.withChosen(drafts.pairOf('등급', 'is', RULE), ['A']),
      drafts.pairOf('등급', 'changes', RULE),
    ];
    const edited: drafts.Draft = { ...draftWith(), rule: { ...RULE, class: 'edited' } };
    const classOf = (more: Partial<drafts.Draft>) => drafts.ruleOf({ ...edited, ...more })?.class;
    expect(classOf({})).toBe('edited');
    expect(classOf({ conditions: [state] })).toBe('edited');
    expect(classOf({ conditions: [state], rule: RULE })).toBeUndefined();
    expect(classOf({ conditions: [state, change] })).toBeUndefined();
    expect(classOf({ conditions: [state, change], isAny: true })).toBe('edited');
    expect(classOf({ conditions: [state], rule: { ...edited.rule, on: ['crm.person.deleted'] } })).toBeUndefined();
    const counted = drafts.draftOf({ ...RULE, where: { 'after.등급': ['A'] } })!;
    expect(drafts.ruleOf(counted)?.class).toBeUndefined();
    const changed = drafts.draftOf({ ...RULE, where: { 등급: { changes: true } } })!;
    expect(drafts.ruleOf({ ...changed, conditions: [state] })?.class).toBe('edited');
    expect(drafts.draftOf({ ...RULE, class: 'refreshed' })).toBeNull();
  });

  it.each<[Record<string, unknown>]>([
    [{ 'after.계약일': { gte: '2026-12-01T09:30:00Z' } }],
    [{ 'after.금액': { gt: 5 } }],
    [{ 'after.금액': { gte: 1, gt: 5 } }],
    [{ 등급: { becomes: ['A', 'B'] } }],
    [{ 등급: { becomes: null } }],
    [{ changed: { not: ['등급'] } }],
    [{ any: [{ 'after.금액': { gte: 1, lte: 5 } }] }],
  ])('rule form: %j cannot be shown, and stays in the file', (where) => {
    expect(drafts.draftOf({ ...RULE, where })).toBeNull();
  });

  it.each<[RuleData['unchanged'], english: string, korean: string]>([
    [
      { for: '30d' },
      'When a person has not been changed for 30 days, notify 영업 채팅, at once',
      '고객이 30일 동안 바뀌지 않으면 영업 채팅에 바로 알림',
    ],
    [
      { for: '10d', field: '등급', days: 'working' },
      'When 등급 of a person has not changed for 10 working days, notify 영업 채팅, at once',
      '고객의 등급이 평일 10일 동안 바뀌지 않으면 영업 채팅에 바로 알림',
    ],
    [
      { for: '30d', related: ['memo', 'todo', 'activity'] },
      'When a person has had no memo, todo or activity for 30 days, notify 영업 채팅, at once',
      '고객에 30일 동안 메모, TODO, 활동이 없으면 영업 채팅에 바로 알림',
    ],
  ])('rule form: what has not happened, %j, reads as a sentence and is shown again', (unchanged, english, korean) => {
    const rule: RuleData = { ...RULE, on: ['crm.person.unchanged'], ...(unchanged && { unchanged }) };
    const draft = drafts.draftOf(rule)!;
    expect(drafts.ruleOf(draft)).toEqual(rule);
    const said = (language: 'en' | 'ko') =>
      sentenceOf(draft, { language, word: () => (language === 'ko' ? '고객' : 'person') }).replaceAll('**', '');
    expect([said('en'), said('ko')]).toEqual([english, korean]);
    expect(drafts.isComplete(draft)).toBe(true);
    expect(drafts.isComplete({ ...draft, rule: { ...rule, unchanged: { for: '' } } })).toBe(false);
    expect(drafts.draftOf({ ...rule, unchanged: { for: '36h' } })).toBeNull();
    expect(drafts.ofVerb(rule, 'updated').unchanged).toBeUndefined();
  });

  it('rule form: a mailbox gets one mail in the morning unless the rule says otherwise, and no options of chats', () => {
    const chat: RuleData = { ...RULE, mostPerMinute: 20, mention: true, template: '{{title}}' };
    const mail = drafts.sentTo(chat, 'mail', 'email');
    expect(mail).toEqual({ ...RULE, to: 'mail', template: '{{title}}' });
    const draft = drafts.draftOf(mail)!;
    expect(drafts.withUsualDigest(draft, 'email').rule.digest).toEqual({ at: '09:00' });
    expect(drafts.withUsualDigest(draft, 'message')).toEqual(draft);
    const atOnce = drafts.draftOf({ ...mail, digest: false })!;
    expect(drafts.withUsualDigest(atOnce, 'email')).toEqual(atOnce);
    expect(sentenceOf(atOnce, { language: 'en', word: () => 'person' })).toContain('at once');
    expect(drafts.isComplete(atOnce)).toBe(true);
    expect(drafts.sentTo({ ...mail, digest: false }, 'chat', 'message')).toEqual({ ...mail, to: 'chat' });
    expect(drafts.sentTo(chat, 'hook', 'webhook')).toEqual({ ...RULE, to: 'hook' });
  });

  it('rule form: fields that people write come first, then what the system counts, then ids', () => {
    const names = ['A/S', 'id', 'organizationId', '딜 개수', '등급'];
    expect(drafts.byUse(names, ['딜 개수'])).toEqual(['A/S', '등급', '딜 개수', 'id', 'organizationId']);
  });
});
