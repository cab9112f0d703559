import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import { defineHandler } from '../../src/handlers/define.js';
import { compileWhere, type Conditions } from '../../src/handlers/where.js';
import { changeEvent } from '../support/fan-out.js';

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
};
const event: ChangeEvent = { ...base, data: { ...base.data, after } };
const holds = (where: Conditions): boolean => compileWhere(where)(event);

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
    expect(compileWhere(where)({ ...base, data: { ...base.data, after: { id: 'r1', ...fields } } })).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('where: conditions that can never hold are refused', () => {
    const made = (where: unknown) => () => defineHandler({ name: 'a', where: where as Conditions, handle() {} });
    for (const where of [{ 'aftr.유형': 1 }, { 'after.유형': { equals: 1 } }, { 'after.유형': {} }, 'after', 3]) {
      expect(made(where), JSON.stringify(where)).toThrow(
        /^where(\.\S+|\[.+\]\S*)? of defineHandler "a": .*; allowed: /,
      );
    }
  });
});
