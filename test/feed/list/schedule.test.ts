import { describe, expect, it } from 'vitest';
import { ChangefeedError } from '../../../src/kit/errors.js';
import { failureAfter, nextSweepMs, type Pace } from '../../../src/feed/list/schedule.js';
import type { ListFailure } from '../../../src/feed/store/sweep-state.js';

const NOW = Date.parse('2026-03-01T09:00:00.000Z');
const at = (offsetMs: number): string => new Date(NOW + offsetMs).toISOString();
const swept = (startedAgoMs: number) => ({
  startedAt: at(-startedAgoMs),
  completedAt: at(-startedAgoMs + 1_000),
  pages: 4,
});

const EVERY_MINUTE: Pace = { intervalMs: 60_000 };
const AT_ONCE: Pace = { intervalMs: null };

const failure = (more: Partial<ListFailure> = {}): ListFailure => ({
  code: 'CF_UNAVAILABLE',
  message: 'The API answered 503.',
  page: 1,
  since: at(-60_000),
  at: at(-1_000),
  attempts: 3,
  retryAt: at(4_000),
  ...more,
});

describe('schedule: a list with an interval', () => {
  it.each([
    ['sweeps at once a list that was never swept', null, null, null, 0],
    ['sweeps one interval after the last start', swept(40_000), null, null, 20_000],
    ['sweeps at once what is overdue', swept(100_000), null, null, -40_000],
    ['sweeps earlier for a due time', swept(40_000), null, 5_000, 5_000],
    ['waits after a failure, whatever is due', swept(100_000), failure(), -5_000, 4_000],
    ['sweeps at once when the last sweep was in the future, which is no time', swept(-900_000), null, null, 0],
    [
      'sweeps at once when the clock has stepped back during the last sweep',
      { ...swept(40_000), startedAt: at(900_000) },
      null,
      null,
      0,
    ],
    ['tries again at once after a failure in the future', null, failure({ at: at(900_000) }), null, 0],
    ['waits no longer than an interval after a failure', null, failure({ retryAt: at(900_000) }), null, 59_000],
  ])('%s', (_what, lastSweep, failed, wake, expected) => {
    const wakeMs = wake === null ? null : NOW + wake;
    const dueMs = nextSweepMs({ lastSweep, failure: failed }, { ...EVERY_MINUTE, wakeMs, nowMs: NOW });
    expect(dueMs - NOW).toBe(expected);
  });

  it('waits longer after each failure, at most 30 s, and keeps the time of the first', () => {
    const cause = new ChangefeedError('CF_UNAUTHORISED', { message: 'The API answered 401.' });
    const error = new ChangefeedError('CF_SWEEP_INCOMPLETE', { message: 'page 2', page: 2, resumes: true, cause });
    const waits: number[] = [];
    let last: ListFailure | null = null;
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const nowMs = NOW + attempt * 60_000;
      last = failureAfter(last, error, { nowMs, periodMs: 1_000, random: 1 });
      waits.push(Date.parse(last.retryAt) - nowMs);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(last).toMatchObject({
      code: 'CF_UNAUTHORISED',
      message: 'The API answered 401.',
      page: 2,
      since: at(0),
      at: at(7 * 60_000),
      attempts: 8,
    });
  });

  it('spends no more on a sweep that must start at the first page than its usual period allows', () => {
    const error = new ChangefeedError('CF_SWEEP_INCOMPLETE', { message: 'loop', page: 9, resumes: false });
    const last = failureAfter(failure({ attempts: 20 }), error, { nowMs: NOW, periodMs: 600_000, random: 1 });
    expect(Date.parse(last.retryAt) - NOW).toBe(600_000);
  });
});

describe('schedule: a list without an interval, or with a short one', () => {
  const took = (startedAgoMs: number, tookMs: number) => ({
    startedAt: at(-startedAgoMs),
    completedAt: at(-startedAgoMs + tookMs),
    pages: 10,
  });

  it.each([
    ['is swept at once when it was never swept', AT_ONCE, null, 0],
    ['is swept again when the last sweep has ended', AT_ONCE, took(40_000, 40_000), 0],
    ['is not swept twice in a second', AT_ONCE, took(200, 100), 800],
    ['is swept at once when a sweep takes longer than the interval', { intervalMs: 5_000 }, took(9_000, 9_000), 0],
    ['is swept at once when the last sweep was in the future', AT_ONCE, took(-900_000, 5_000), 0],
  ])('%s', (_what, pace, lastSweep, expected) => {
    expect(nextSweepMs({ lastSweep, failure: null }, { ...pace, wakeMs: null, nowMs: NOW }) - NOW).toBe(expected);
  });

  it('waits after a failure as long as it says, at most 30 s or a sweep', () => {
    const next = (retryMs: number, lastSweep: ReturnType<typeof took> | null): number =>
      nextSweepMs({ lastSweep, failure: failure({ retryAt: at(retryMs) }) }, { ...AT_ONCE, wakeMs: null, nowMs: NOW }) -
      NOW;
    expect(next(4_000, took(9_000, 1_000))).toBe(4_000);
    expect(next(900_000, took(9_000, 1_000))).toBe(29_000);
    expect(next(900_000, took(99_000, 90_000))).toBe(89_000);
    expect(next(900_000, null)).toBe(299_000);
  });

  it('waits, as a background list, until its walks have taken no more than their part of the requests', () => {
    const pace = { ...AT_ONCE, walksPerSecond: 0.5 };
    const next = (lastSweep: ReturnType<typeof took>): number =>
      nextSweepMs({ lastSweep, failure: null }, { ...pace, wakeMs: null, nowMs: NOW }) - NOW;
    expect(next(took(9_000, 4_000))).toBe(11_000);
    expect(next(took(40_000, 40_000))).toBe(0);
  });
});
