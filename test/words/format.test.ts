import { describe, expect, it } from 'vitest';
import { formatsFor } from '../../src/words/format.js';
import { wordsFor } from '../../src/words/words.js';

const inSeoul = { timeZone: 'Asia/Seoul', now: '2026-12-31T14:59:00Z' };
const [ko, en] = [formatsFor({ language: 'ko', ...inSeoul }), formatsFor({ language: 'en', ...inSeoul })];

describe('words: formats', () => {
  it.each<[unknown, string | null, string | null]>([
    ['2026-11-20T04:22:00.000Z', '11월 20일 (금) 13:22', 'Fri 20 Nov, 13:22'],
    // Of the next year in Seoul, and of the year before.
    ['2026-12-31T15:00:00Z', '2027년 1월 1일 (금) 00:00', 'Fri 1 Jan 2027, 00:00'],
    ['2025-09-30T15:00:00+09:00', '2025년 9월 30일 (화) 15:00', 'Tue 30 Sep 2025, 15:00'],
    // Without a zone it is UTC; a date alone is the same day everywhere.
    ['2026-03-01T21:30', '3월 2일 (월) 06:30', 'Mon 2 Mar, 06:30'],
    ['2026-03-01', '3월 1일 (일)', 'Sun 1 Mar'],
    ['2026-02-31T00:00:99Z', '2026-02-31T00:00:99Z', '2026-02-31T00:00:99Z'],
    [true, '예', 'yes'],
    [false, '아니요', 'no'],
    [12_345_678.5, '12,345,678.5', '12,345,678.5'],
    [2026, '2026', '2026'],
    [[{ id: '1', name: '이가상' }, false], '이가상, 아니요', '이가상, no'],
    [{ a: 1 }, '{"a":1}', '{"a":1}'],
    ['', null, null],
    [null, null, null],
    [[], null, null],
  ])('a value %j', (value, korean, english) => {
    expect([ko.value(value), en.value(value)]).toEqual([korean, english]);
  });

  it('durations and numbers have the units of the language', () => {
    expect([ko.duration(200_000), en.duration(200_000)]).toEqual(['3분 20초', '3 min 20 s']);
    expect([ko.duration(860), ko.duration(93_600_000), ko.duration(4 * 86_400_000)]).toEqual([
      '0.9초',
      '26시간',
      '4일',
    ]);
    expect([en.number(1_204), en.percent(0.834)]).toEqual(['1,204', '83%']);
  });

  it('counts have their plural; an object that the list does not know keeps its name', () => {
    const counts = [1, 3_000].flatMap((count) => [
      wordsFor('en').countOf('person', count),
      wordsFor('ko').countOf('todo', count),
    ]);
    expect(counts).toEqual(['1 person', 'TODO 1건', '3,000 people', 'TODO 3,000건']);
    expect([wordsFor('ko').countOf('my_quote', 2), wordsFor('ko').word('verb', 'due_soon')]).toEqual([
      'my quote: 2',
      '기한 임박',
    ]);
  });
});
