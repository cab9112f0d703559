import { expect, it } from 'vitest';
import { eventTime, readTime } from '../../src/kit/iso-time.js';

it('iso time: a time of an event is one that RFC 3339, CloudEvents and PostgreSQL can hold, without a zone UTC', () => {
  expect(
    [
      '2026-03-01T09:00:00+09:00',
      '2026-03-01T09:00:00.5Z',
      '2026-03-01T09:00',
      '2026-03-01',
      '0001-01-01T00:00:00Z',
    ].map(eventTime),
  ).toEqual([
    '2026-03-01T00:00:00.000Z',
    '2026-03-01T09:00:00.500Z',
    '2026-03-01T09:00:00.000Z',
    '2026-03-01T00:00:00.000Z',
    '0001-01-01T00:00:00.000Z',
  ]);
  const none = [
    '+020226-01-05T00:00:00.000Z',
    '0000-06-01',
    '2026-02-30',
    '2026-02-30T00:00:00Z',
    '9999-12-31T23:00:00-09:00',
  ];
  expect([...none, '2026/01/05', '2026-01-05 18:00:00', 'yesterday', '', null].map(eventTime)).toEqual(
    Array.from({ length: 10 }, () => null),
  );
});

it('iso time: a date and a time without a zone belong to the time zone that is given, wherever the machine stands', () => {
  const read = (text: string, zone: string): string => new Date(readTime(text, zone) ?? NaN).toISOString();
  expect(read('2026-11-20', 'Asia/Seoul')).toBe('2026-11-19T15:00:00.000Z');
  expect(read('2026-11-20T08:30', 'Asia/Seoul')).toBe('2026-11-19T23:30:00.000Z');
  expect(read('2026-11-20T08:30Z', 'Asia/Seoul')).toBe('2026-11-20T08:30:00.000Z');
  expect(read('2026-07-01', 'America/Los_Angeles')).toBe('2026-07-01T07:00:00.000Z');
});
