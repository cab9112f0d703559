import { expect, it } from 'vitest';
import { isLeftAlone, type AnswerTime } from '../../../src/feed/detect/left-alone.js';
import { compileRules } from '../../../src/feed/detect/rules.js';
import type { StoredRecord } from '../../../src/feed/detect/stored-record.js';
import { observation, personAt } from '../../support/detect-case.js';

const NOW = Date.parse(observation.observedAt);
const ago = (minutes: number, ms = 0): string => new Date(NOW - minutes * 60_000 - ms).toISOString();

const decided = (minutes: number | null, more: Partial<StoredRecord> = {}): StoredRecord => ({
  sequence: 4,
  record: personAt(5),
  ...(minutes !== null && { decisions: [{ at: ago(minutes), sweep: 's', what: 'edited', event: 'evt_1' }] }),
  ...more,
});
const gone = { record: null, gone: { at: ago(9), modifiedAt: '2026-03-01T10:05:05.000Z' } };
/** The time of Seoul, written as if it were that of Greenwich. */
const AHEAD = { ...personAt(5), '수정 날짜': '2026-03-01T19:05:05.000Z' };
const AHEAD_AND_GONE = { record: null, gone: { at: ago(9), modifiedAt: '2026-03-01T19:05:05.000Z' } };
const untimed = (name: string) => ({ id: 'p1', 이름: name });

const answer = (more: Partial<AnswerTime> = {}): AnswerTime => ({
  ...{ rules: compileRules('people'), baseline: null, observation, askedAtMs: null },
  ...more,
});

it.each<[string, boolean, StoredRecord, object, Partial<AnswerTime>?]>([
  ['an older time, nine minutes after the decision', true, decided(9), personAt(4)],
  ['an older time, ten minutes after it', false, decided(10), personAt(4)],
  ['an older time, and a decision in the future: a clock was put back', false, decided(-1), personAt(4)],
  ['an older time, and no decision yet', false, decided(null), personAt(4)],
  ['an older time, in a baseline', false, decided(9), personAt(4), { baseline: 'quiet' }],
  ['the same time and another content', false, decided(9), personAt(5, { 이름: '새이름' })],
  [
    'a time that may be cut to the minute of the stored one',
    false,
    decided(9),
    { '수정 날짜': '2026-03-01T10:05:00.000Z' },
  ],
  ['an older time within the minute', true, decided(9), { '수정 날짜': '2026-03-01T10:05:01.000Z' }],
  ['a time before one that was in the future when it was stored', false, decided(9, { record: AHEAD }), personAt(4)],
  ['the same time that was in the future, of a deleted record', true, decided(9, AHEAD_AND_GONE), AHEAD],
  ['another time than one in the future, of a deleted record', false, decided(9, AHEAD_AND_GONE), personAt(4)],
  ['an older time of another zone', true, decided(9), { '수정 날짜': '2026-03-01T19:05:04.999+09:00' }],
  ['a text that is no time', false, decided(9), { '수정 날짜': 'yesterday' }],
  ['a newer time', false, decided(9), personAt(6)],
  ['no time', false, decided(9, { record: untimed('A') }), untimed('B')],
  ['a deleted record with its old time, nine minutes after', true, decided(9, gone), personAt(5)],
  ['a deleted record without a time, nine minutes after', true, decided(9, gone), untimed('A')],
  ['a deleted record with its old time, ten minutes after', false, decided(10, gone), personAt(5)],
  ['a deleted record with a newer time', false, decided(9, gone), personAt(6)],
  ['a decision since the answer was asked for', true, decided(20), personAt(6), { askedAtMs: NOW - 20 * 60_000 }],
  ['a decision before the answer was asked for', false, decided(20), personAt(6), { askedAtMs: NOW - 20 * 60_000 + 1 }],
  ['a decision in the future, since the answer was asked for', false, decided(-1), personAt(6), { askedAtMs: NOW }],
])('left alone: %s: %s', (_what, expected, stored, record, more) => {
  expect(isLeftAlone(stored, record as Record<string, unknown>, answer(more))).toBe(expected);
});
