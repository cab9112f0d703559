import { describe, expect, it } from 'vitest';
import { filled, formats } from '../../../../page/formats.js';
import { texts } from '../../../../page/texts.js';

describe('page: times', () => {
  const { dateTime, times } = formats('en', (key: string) => key);

  it('a date of another year has its year, one of this year has not', () => {
    const now = new Date();
    expect(dateTime('2011-03-27T12:00:00Z')).toMatch(/^(Sun 27|Mon 28) Mar 2011, \d\d:\d\d$/);
    expect(dateTime(now.toISOString())).not.toContain(String(now.getFullYear()));
  });

  it('the time of a value, or at the end of a title, is one that a person reads; the rest of a text stays', () => {
    const time = '2011-03-27T12:00:00.000Z';
    expect(times(time)).toBe(dateTime(time));
    expect(times(`마감 날짜: ${time}`)).toBe(`마감 날짜: ${dateTime(time)}`);
    expect(times(`${time} or later`)).toBe(`${time} or later`);
    expect(times('due: 2011-99-27T12:00:00Z')).toBe('due: 2011-99-27T12:00:00Z');
  });
});

describe('page: texts', () => {
  it('one event is no events', () => {
    const said = [1, 2, 0, '1', '1,000'].map((count) => filled(texts['sub.lagValue'][0], { count, time: '3 s' }));
    expect(said).toEqual(['1 event, 3 s', '2 events, 3 s', '0 events, 3 s', '1 event, 3 s', '1,000 events, 3 s']);
  });
});
