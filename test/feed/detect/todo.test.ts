import { describe, expect, it } from 'vitest';
import { createdAtOf, deadlineOf, doneAtOf, isDone, ownerOf, teamsOf } from '../../../src/feed/detect/todo.js';

const SEOUL = 'Asia/Seoul';
const NEW_YORK = 'America/New_York';
const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

it.each([
  ['a time of day is the moment itself', '2026-03-03T01:15:00.000Z', SEOUL, '2026-03-03T01:15:00.000Z'],
  ['KST midnight is a day, over when the next begins', '2026-03-02T15:00:00.000Z', SEOUL, '2026-03-03T15:00:00.000Z'],
  ['a written day ends in the zone of the workspace', '2026-03-03', SEOUL, '2026-03-03T15:00:00.000Z'],
  ['midnight in UTC is nine in the morning in Seoul', '2026-03-03T00:00:00.000Z', SEOUL, '2026-03-03T00:00:00.000Z'],
  ['midnight in UTC is a day where UTC is the zone', '2026-03-03T00:00:00.000Z', 'UTC', '2026-03-04T00:00:00.000Z'],
  ['a day of 23 hours', '2026-03-08T05:00:00.000Z', NEW_YORK, '2026-03-09T04:00:00.000Z'],
  ['a day of 25 hours', '2026-11-01T04:00:00.000Z', NEW_YORK, '2026-11-02T05:00:00.000Z'],
  ['a written day of 23 hours', '2026-03-08', NEW_YORK, '2026-03-09T04:00:00.000Z'],
  ['the second of two equal hours', '2026-11-01T06:30:00.000Z', NEW_YORK, '2026-11-01T06:30:00.000Z'],
  [
    'a day that begins at one, for midnight is skipped',
    '2026-04-23T22:00:00.000Z',
    'Africa/Cairo',
    '2026-04-24T21:00:00.000Z',
  ],
  ['an offset is understood', '2026-03-03T10:15:00.000+09:00', SEOUL, '2026-03-03T01:15:00.000Z'],
  ['an offset without a colon, too', '2026-03-03T10:15:00.000+0900', SEOUL, '2026-03-03T01:15:00.000Z'],
  ['without an offset it is UTC', '2026-03-03T01:15:00.000', SEOUL, '2026-03-03T01:15:00.000Z'],
  ['a day that does not exist is none', '2026-02-30', SEOUL, null],
  ['a text is none', 'next week', SEOUL, null],
  ['a number is none', 1_772_323_200_000, SEOUL, null],
  ['null is none', null, SEOUL, null],
])('todo: when it is due %s', (_what, due, timeZone, expected) => {
  expect(iso(deadlineOf({ '마지막 날짜': due }, timeZone))).toBe(expected);
  expect(iso(deadlineOf({ 종료일: due }, timeZone))).toBe(expected);
  expect(iso(deadlineOf({ '마지막 날짜': null, 종료일: due }, timeZone))).toBe(expected);
  expect(iso(deadlineOf({ ['종료일'.normalize('NFD')]: due }, timeZone))).toBe(expected);
});

describe('todo: whether it is done', () => {
  it.each([
    [{ 완료: true, '완료 날짜': '2026-03-03T01:15:00.000Z' }, true],
    [{ 완료: false, '완료 날짜': null }, false],
    [{ 완료: true, '완료 날짜': null }, true],
    [{ 완료: false, 완료일: '2026-03-03T01:15:00.000Z' }, false],
    [{ 완료: null, 완료일: '2026-03-03T01:15:00.000Z' }, true],
    [{ 완료일: null }, false],
    [{ 완료일: '' }, false],
    [{ 완료: 'true' }, null],
    [{}, null],
  ])('%j says %s', (record, expected) => {
    expect(isDone(record)).toBe(expected);
  });

  it('says when, and who owns it, if the record does', () => {
    expect(doneAtOf({ 완료일: '2026-03-03T10:15:00+09:00' })).toBe('2026-03-03T01:15:00.000Z');
    expect(doneAtOf({ 완료: true })).toBeNull();
    expect(ownerOf({ 담당자: { id: 'u1', name: '담당A' } })).toEqual({ id: 'u1', name: '담당A' });
    expect(ownerOf({ 담당자: null })).toBeNull();
  });
});

it('todo: people names its teams and leaves out other values', () => {
  const team = { id: 't1', name: '영업' };
  expect(teamsOf({ 팀: [team, null, 't2', { name: 'x' }, { id: 't3' }] })).toEqual([team, { id: 't3', name: 't3' }]);
  expect(teamsOf({ 팀: team })).toEqual([]);
  expect(teamsOf({})).toEqual([]);
});

it.each([
  [{ '생성 날짜': '2026-03-03T01:15:00.000Z' }, '2026-03-03T01:15:00.000Z'],
  [{ createdAt: '2026-03-03T10:15:00+09:00' }, '2026-03-03T01:15:00.000Z'],
  [{ createdAt: '2026-03-03T01:15:00' }, '2026-03-03T01:15:00.000Z'],
  [{ createdAt: 'at 2026-03-03T01:15:00' }, null],
  [{ createdAt: '2026-03-03' }, null],
  [{ createdAt: '' }, null],
  [{}, null],
])('todo: when it was created %j says %s', (record, expected) => {
  expect(createdAtOf(record)).toBe(expected);
});
