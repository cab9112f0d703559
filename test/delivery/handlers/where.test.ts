import { describe, expect, it } from 'vitest';
import { diffRecords } from '../../../src/crm/canonical.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import type { ChangeCondition } from '../../../src/delivery/handlers/change-condition.js';
import { checkConditions, compileWhere, type Conditions } from '../../../src/delivery/handlers/where.js';
import { changeEvent } from '../../support/events.js';

const base = changeEvent({ record: 'r1', sequence: 2, changed: ['담당자', '금액'] });
const after = {
  id: 'r1',
  유형: '전화',
  금액: 300,
  '등급.최종': 'A',
  담당자: { id: 'u1', name: '가나' },
  태그: ['VIP', '신규'],
  이메일: 'kim@example.com',
  메모: null,
  // Seven days after the event was observed, to the second.
  계약일: '2026-03-09T13:10:01+09:00',
  방문일: '2026-01-31T04:10:01.000Z',
};
const event: ChangeEvent = { ...base, data: { ...base.data, after } };
const NOWHERE = { name: 'acme', data: { plan: 'gold', seats: 7 } };
const holds = (where: Conditions): boolean => compileWhere(where)(event, NOWHERE);

describe('where', () => {
  it.each<[string, Conditions, boolean]>([
    ['none', {}, true],
    ['equal', { 'after.유형': '전화' }, true],
    ['equal, however it is composed', { ['after.유형'.normalize('NFD')]: '전화'.normalize('NFD') }, true],
    ['not equal', { 'after.유형': '메일' }, false],
    ['a number is no text', { 'after.금액': '300' }, false],
    ['every entry must hold', { 'after.유형': '전화', 'data.class': 'refreshed' }, false],
    ['one of several', { 'data.class': ['refreshed', 'edited'] }, true],
    ['none of several', { 'after.유형': ['메일', '문자'] }, false],
    ['a field of a reference', { 'after.담당자.name': '가나' }, true],
    ['a name with a dot', { 'after.등급.최종': 'A' }, true],
    [
      'what was put with the workspace',
      { 'workspace.data.plan': ['gold', 'silver'], 'workspace.data.seats': { gt: 5 } },
      true,
    ],
    ['other data', { 'workspace.data.plan': 'free' }, false],
    ['data that is not there', { 'workspace.data.since': { exists: true } }, false],
    ['the name of the workspace', { 'workspace.name': 'acme' }, true],
    ['not', { 'after.유형': { not: '메일' } }, true],
    ['not any of', { 'after.유형': { not: ['메일', '전화'] } }, false],
    ['a range', { 'after.금액': { gt: 299, lte: 300 } }, true],
    ['outside of a range', { 'after.금액': { gte: 100, lt: 300 } }, false],
    ['an order of texts', { time: { gte: '2026-03-02' } }, true],
    ['no order between a number and a text', { 'after.금액': { gt: '1' } }, false],
    ['an element of a list', { 'after.태그': { contains: 'VIP' } }, true],
    ['a part of a text', { 'after.이메일': { contains: '@' } }, true],
    ['no part', { 'after.태그': { contains: 'V' } }, false],
    ['a pattern', { 'after.이메일': { matches: '*@example.com' } }, true],
    ['a pattern that does not fit', { 'after.이메일': { matches: '*@example.org' } }, false],
    ['something there', { 'after.이메일': { exists: true } }, true],
    ['null is not there', { 'after.메모': { exists: false } }, true],
    ['nor is what is absent', { 'after.전화': { exists: false }, 'after.없음': null }, true],
    ['a changed field', { changed: '금액' }, true],
    ['a changed field by pattern', { changed: ['이메일', '담*'] }, true],
    ['no changed field', { changed: '이메일' }, false],
    ['not one changed field of two', { changed: { not: '담당자' } }, false],
    ['not a changed field by pattern', { changed: { not: ['전화', '담*'] } }, false],
    ['no changed field of this name', { changed: { not: '이메일' } }, true],
    ['a changed field, and none of this name', { changed: { matches: '금*', not: '이메일' } }, true],
    ['an instant, however it is written', { 'after.계약일': { gte: '2026-03-09T04:10:01.000Z' } }, true],
    ['before a day of another zone', { 'after.계약일': { lt: '2026-03-10T00:00:00+09:00' } }, true],
    ['not before it', { 'after.계약일': { lt: '2026-03-09T00:00:00+09:00' } }, false],
    ['within the next 7 days', { 'after.계약일': { inNext: '7d' } }, true],
    ['not within the next 6 days', { 'after.계약일': { inNext: '6d' } }, false],
    ['past, and not next', { 'after.방문일': { inNext: '90d' } }, false],
    ['30 days ago', { 'after.방문일': { ago: '30d' } }, true],
    ['not 31 days ago', { 'after.방문일': { ago: '31d' } }, false],
    ['not to come, and long ago', { 'after.계약일': { ago: '1m' } }, false],
    ['no time, never near', { 'after.유형': { inNext: '7d' }, 'after.없음': { ago: '7d' } }, false],
    ['a changed field, and not another one', { changed: { matches: '금*', not: '담당자' } }, false],
  ])('%s', (_what, where, expected) => {
    expect(holds(where)).toBe(expected);
  });

  // In quadratic time, the first takes minutes and the second seconds.
  it.each<[string, Conditions, object]>([
    ['a text of 1 MB', { 'after.메모': { matches: '*@*.example.com*' } }, { 메모: '@'.repeat(1_000_000) }],
    ['a path of 200,000 dots', { [`after.${'a.'.repeat(200_000)}b`]: 1 }, { a: { a: 2 } }],
  ])('where: %s does not stop the process', (_what, where, fields) => {
    const startedAt = performance.now();
    expect(compileWhere(where)({ ...base, data: { ...base.data, after: { id: 'r1', ...fields } } }, NOWHERE)).toBe(
      false,
    );
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  const was = {
    id: 'r1',
    금액: 250,
    등급: 'B',
    담당자: { id: 'u0', name: '다라' },
    팀: [{ id: 't1', name: '1팀' }],
    메모: null,
  };
  const is = {
    id: 'r1',
    금액: 300,
    등급: 'A',
    담당자: { id: 'u1', name: '가나' },
    팀: [
      { id: 't1', name: '1팀' },
      { id: 't2', name: '2팀' },
    ],
    메모: [],
  };
  const changed = (
    where: Conditions,
    [before, now]: readonly [object | null, object | null],
    type = base.type,
    compares = (_field: string) => true,
  ): boolean => {
    const rules = { list: 'people', nullIsAbsent: true, compares } as const;
    const changes = before === null || now === null ? [] : diffRecords({ ...before }, { ...now }, rules);
    const data = { ...base.data, before, after: now, changes } as ChangeEvent['data'];
    return compileWhere(where)({ ...base, type, data }, NOWHERE);
  };

  it.each<[string, Conditions, boolean]>([
    ['a number rises', { 금액: { rises: true } }, true],
    ['it rises by a number', { 금액: { rises: true, by: 50 } }, true],
    ['it rises by less', { 금액: { rises: true, by: 50.01 } }, false],
    ['it rises by a share of the number before', { 금액: { rises: true, by: '20%' } }, true],
    ['it rises by a smaller share', { 금액: { rises: true, by: '20.1%' } }, false],
    ['a number that rises does not fall', { 금액: { falls: true } }, false],
    ['a text neither rises nor falls', { any: [{ 등급: { rises: true } }, { 등급: { falls: true } }] }, false],
    ['from one value to another', { 등급: { from: 'B', to: 'A' } }, true],
    ['from one of several', { 등급: { from: ['B', 'C'] } }, true],
    ['from another value', { 등급: { from: 'C', to: 'A' } }, false],
    ['to another value', { 등급: { from: 'B', to: 'S' } }, false],
    ['a reference becomes another, by id', { 담당자: { becomes: 'u1' } }, true],
    [
      'and by name, however it is composed',
      { ['담당자'.normalize('NFD')]: { becomes: '가나'.normalize('NFD') } },
      true,
    ],
    ['not the reference it was', { 담당자: { becomes: 'u0' } }, false],
    ['a list of references gets one', { 팀: { becomes: '2팀' } }, true],
    ['one that it had', { 팀: { becomes: 't1' } }, false],
    ['a field in a reference', { '담당자.name': { changes: true } }, true],
    ['a field changes', { 등급: { changes: true } }, true],
    ['a field stays', { id: { changes: true } }, false],
    ['null and an empty list are the same', { any: [{ 메모: { changes: true } }, { 메모: { becomes: null } }] }, false],
    ['a field that is not there', { 없음: { changes: true } }, false],
    ['any: one holds', { any: [{ 등급: { from: 'C' } }, { 금액: { rises: true } }] }, true],
    ['any: each needs all of its own', { any: [{ 등급: { from: 'C' }, 금액: { rises: true } }] }, false],
    ['any, and another condition', { any: [{ 금액: { rises: true } }], 'after.등급': 'S' }, false],
  ])('where: before and after: %s', (_what, where, expected) => {
    expect(changed(where, [was, is])).toBe(expected);
  });

  it.each<[string, Conditions, readonly [object | null, object | null], string, boolean]>([
    ['a new record becomes what it is', { 등급: { becomes: 'A' } }, [null, is], 'person.created', true],
    ['it does not become what it lacks', { 없음: { becomes: null } }, [null, is], 'person.created', false],
    ['it does not rise', { 금액: { rises: true } }, [null, is], 'person.created', false],
    ['it does not change', { 등급: { changes: true } }, [null, is], 'person.created', false],
    ['it was nothing', { 등급: { from: [null] } }, [null, is], 'person.created', false],
    ['a snapshot is no change', { 등급: { becomes: 'A' } }, [null, is], 'person.snapshot', false],
    ['nor is an update without images', { 등급: { becomes: 'A' } }, [null, is], 'person.updated', false],
    ['nor a removal', { 등급: { from: 'B' } }, [was, null], 'person.deleted', false],
    [
      'a field named as a part of the event',
      { type: { becomes: 'b' } },
      [{ type: 'a' }, { type: 'b' }],
      'memo.updated',
      true,
    ],
  ])('where: before and after: %s', (_what, where, images, type, expected) => {
    expect(changed(where, images, `crm.${type}` as ChangeEvent['type'])).toBe(expected);
  });

  it.each<[string, ChangeCondition, unknown, unknown, boolean]>([
    ['a number falls by a share', { falls: true, by: '10%' }, 300, 250, true],
    ['any share of nothing', { rises: true, by: '20%' }, 0, 1, true],
    ['a share of a loss', { rises: true, by: '50%' }, -100, -60, false],
    ['a share of a decimal', { rises: true, by: '20%' }, 1.1, 1.32, true],
    ['digits are no number', { rises: true }, '1', '2', false],
    ['a new name of the same person', { changes: true }, { id: 'u1', name: '가나' }, { id: 'u1', name: '마바' }, false],
  ])('where: before and after: %s', (_what, condition, before, after, expected) => {
    expect(changed({ 값: condition }, [{ 값: before }, { 값: after }])).toBe(expected);
  });

  it.each<[string, Conditions, boolean]>([
    ['becomes', { 등급: { becomes: 'A' } }, false],
    ['from and to', { 등급: { from: 'B', to: 'A' } }, false],
    ['a field that is compared', { 금액: { rises: true } }, true],
    ['its value', { 'after.등급': 'A' }, true],
  ])('where: before and after: a field that detection ignores does not change: %s', (_what, where, expected) => {
    expect(changed(where, [was, is], base.type, (field) => field !== '등급')).toBe(expected);
  });

  it('where: before and after: a field that stays null has not gone from one value to one of several', () => {
    const where = { 메모: { from: [null, 'B'], to: [null, 'A'] } };
    expect(changed(where, [was, is])).toBe(false);
  });
});

it('conditions: any within any is refused, however deep', () => {
  const any = JSON.parse(`${'{"any":['.repeat(20_000)}{}${']}'.repeat(20_000)}`) as unknown;
  expect(() => checkConditions(any, 'where')).toThrow('conditions without a further any');
});
