import { describe, expect, it } from 'vitest';
import { usualPauseAfter, stalenessOf, type UsualPause, type Staleness } from '../../../src/feed/detect/staleness.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MONDAY = Date.parse('2026-01-05T00:00:00.000Z');
const iso = (ms: number): string => new Date(ms).toISOString();

/** Sweeps a list every hour. Returns the hours at which staleness was first reported, with the longest pause. */
function watched(hours: number, changesAt: (hour: number) => boolean, isSwept: (hour: number) => boolean = () => true) {
  let usual: UsualPause | undefined;
  let staleness: Staleness | undefined;
  let previousAt: string | null = null;
  const said: { hour: number; pauseHours: number }[] = [];
  let pending = false;
  for (let hour = 0; hour < hours; hour += 1) {
    pending ||= changesAt(hour);
    if (!isSwept(hour)) continue;
    const at = iso(MONDAY + hour * HOUR);
    usual = usualPauseAfter(usual, { changed: pending, at, previousAt, previous: staleness });
    const now = stalenessOf(usual, { at, seen: 5, seenBefore: previousAt === null ? null : 5, previous: staleness });
    if (now !== undefined && staleness === undefined) said.push({ hour, pauseHours: now.longestPauseMs / HOUR });
    [staleness, previousAt, pending] = [now, at, false];
  }
  return said;
}

const weekday = (hour: number): number => Math.floor(hour / 24) % 7;
const inOfficeHours = (hour: number): boolean => weekday(hour) < 5 && hour % 24 >= 9 && hour % 24 < 18;
const WEEK = 7 * 24;

describe('staleness: the usual pause of a list', () => {
  it('lets nights, weekends and the longest holiday pass, month after month', () => {
    const holiday = (hour: number): boolean => hour >= 10 * WEEK + 4 * 24 && hour < 12 * WEEK;
    expect(watched(26 * WEEK, (hour) => inOfficeHours(hour) && !holiday(hour))).toEqual([]);
  });

  it('warns once when a list with office hours is silent for longer than any such pause', () => {
    const end = 8 * WEEK + 4 * 24 + 18;
    const said = watched(12 * WEEK, (hour) => inOfficeHours(hour) && hour < end);
    expect(said).toEqual([{ hour: expect.any(Number) as number, pauseHours: 63 }]);
    const days = (said[0]!.hour - end) / 24;
    expect(days).toBeGreaterThan(12);
    expect(days).toBeLessThan(14);
  });

  it('warns after a day when a list changes around the clock', () => {
    const end = 3 * WEEK;
    expect(watched(4 * WEEK, (hour) => hour < end)).toEqual([{ hour: end + 24, pauseHours: 0 }]);
  });

  it('does not warn while it is learning, nor about a list that hardly ever changes', () => {
    expect(watched(12 * WEEK, (hour) => inOfficeHours(hour) && hour < 13 * 24)).toEqual([]);
    expect(watched(52 * WEEK, (hour) => hour % (6 * WEEK) === 30)).toEqual([]);
  });

  it('does not count time without sweeps as a pause', () => {
    // Three weeks without a sweep. Counted as a pause of the list, they would allow twelve weeks of silence.
    const away = (hour: number): boolean => hour > 3 * WEEK && hour < 6 * WEEK;
    const end = 8 * WEEK;
    const said = watched(
      10 * WEEK,
      (hour) => hour < end,
      (hour) => !away(hour),
    );
    expect(said).toEqual([{ hour: end + 24, pauseHours: 0 }]);
  });

  it('forgets one long pause after some weeks', () => {
    const pause = (hour: number): boolean => hour >= 3 * WEEK && hour < 5 * WEEK;
    const end = 30 * WEEK;
    const [first, later] = watched(40 * WEEK, (hour) => hour < end && !pause(hour));
    // The pause itself is reported, because it is far longer than any before.
    expect(first).toEqual({ hour: 3 * WEEK + 24, pauseHours: 0 });
    expect(later!.hour - end).toBe(24);
  });

  it('learns little from a staleness that it reported: the next is reported again, a little later', () => {
    const isAway = (hour: number): boolean => hour >= 3 * WEEK && hour < 5 * WEEK;
    const end = 6 * WEEK;
    const said = watched(9 * WEEK, (hour) => hour < end && !isAway(hour));
    expect(said).toEqual([
      { hour: 3 * WEEK + 24, pauseHours: 0 },
      { hour: end + 5 * 24, pauseHours: 24 },
    ]);
  });
});

const usual: UsualPause = {
  since: iso(MONDAY),
  changes: 0,
  changedAt: iso(MONDAY),
  pausesMs: [0, 0],
  month: iso(MONDAY),
};
const at = iso(MONDAY + DAY);

it('staleness: a list that is empty now is reported at once, with its start, until it has a record, and not if it never had any', () => {
  const first = stalenessOf(usual, { at, seen: 0, seenBefore: 3, previous: undefined });
  expect(first).toEqual({ kind: 'empty', since: at, longestPauseMs: 0 });
  const next = iso(MONDAY + 2 * DAY);
  expect(stalenessOf(usual, { at: next, seen: 0, seenBefore: 0, previous: first })).toEqual(first);
  expect(stalenessOf(usual, { at: next, seen: 1, seenBefore: 0, previous: first })).toBeUndefined();
  for (const seenBefore of [null, 0])
    expect(stalenessOf(usual, { at, seen: 0, seenBefore, previous: undefined })).toBeUndefined();
});

describe('staleness: what one sweep adds', () => {
  const at = (days: number): string => iso(MONDAY + days * DAY);
  const known: UsualPause = { since: at(0), changes: 30, changedAt: at(10), pausesMs: [2 * DAY, 0], month: at(0) };

  it('is a whole pause, or at most twice the known one when it was reported', () => {
    const reported: Staleness = { kind: 'unchanged', since: at(10), longestPauseMs: 0 };
    const after = (previous?: Staleness) =>
      usualPauseAfter(known, { changed: true, at: at(19), previousAt: at(19), previous }).pausesMs[0];
    expect([after(), after(reported)]).toEqual([9 * DAY, 4 * DAY]);
  });

  it('is enough to warn from twenty changes and two weeks on', () => {
    const enough = { ...known, changes: 20, changedAt: at(14), pausesMs: [0, 0] as const };
    const said = (more: Partial<UsualPause>) =>
      stalenessOf({ ...enough, ...more }, { at: at(40), seen: 5, seenBefore: 5, previous: undefined })?.kind;
    expect([said({}), said({ changes: 19 }), said({ changedAt: at(13) })]).toEqual(['unchanged', undefined, undefined]);
  });
});
