import { describe, expect, it } from 'vitest';
import { ChangefeedError } from '../../src/errors.js';
import { failureAfter, nextSweepMs, type ListFailure } from '../../src/sweep/schedule.js';

const NOW = Date.parse('2026-03-01T09:00:00.000Z');
const at = (offsetMs: number): string => new Date(NOW + offsetMs).toISOString();
const swept = (startedAgoMs: number) => ({ startedAt: at(-startedAgoMs), completedAt: at(-startedAgoMs + 1_000) });

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

describe('schedule: a list', () => {
  it.each([
    ['sweeps at once a list that was never swept', null, null, null, 0],
    ['sweeps one interval after the last start', swept(40_000), null, null, 20_000],
    ['sweeps at once what is overdue', swept(100_000), null, null, -40_000],
    ['sweeps earlier for a due time', swept(40_000), null, 5_000, 5_000],
    ['waits after a failure, whatever is due', swept(100_000), failure(), -5_000, 4_000],
    [
      'waits no longer than an interval when the clock of another process is ahead',
      swept(-900_000),
      null,
      null,
      60_000,
    ],
    [
      'waits no longer than an interval for a retry that a clock ahead has set',
      null,
      failure({ retryAt: at(900_000) }),
      null,
      60_000,
    ],
  ])('%s', (_what, lastSweep, failed, wake, expected) => {
    const wakeMs = wake === null ? null : NOW + wake;
    const dueMs = nextSweepMs({ lastSweep, failure: failed }, { intervalMs: 60_000, wakeMs, nowMs: NOW });
    expect(dueMs - NOW).toBe(expected);
  });

  it('waits longer after each failure, at most 30 s, and keeps the time of the first', () => {
    const cause = new ChangefeedError('CF_UNAUTHORISED', { message: 'The API answered 401.' });
    const error = new ChangefeedError('CF_SWEEP_INCOMPLETE', { message: 'page 2', page: 2, resumes: true, cause });
    const waits: number[] = [];
    let last: ListFailure | null = null;
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const nowMs = NOW + attempt * 60_000;
      last = failureAfter(last, error, { nowMs, intervalMs: 1_000, random: 1 });
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

  it('spends no more on a sweep that must start at the first page than its interval allows', () => {
    const error = new ChangefeedError('CF_SWEEP_INCOMPLETE', { message: 'loop', page: 9, resumes: false });
    const last = failureAfter(failure({ attempts: 20 }), error, { nowMs: NOW, intervalMs: 600_000, random: 1 });
    expect(Date.parse(last.retryAt) - NOW).toBe(600_000);
  });
});
