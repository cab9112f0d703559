import { expect, it } from 'vitest';
import { systemClock } from '../../../src/kit/clock.js';
import { AskedLists } from '../../../src/feed/list/asked-lists.js';
import type { ListTimes } from '../../../src/feed/store/schedule.js';

const PACE = { intervalMs: 60_000 };
const swept = (sweepId: string) =>
  ({
    sweepId,
    startedAt: '2026-03-01T09:00:00.000Z',
    completedAt: '2026-03-01T09:00:01.000Z',
    pages: 4,
  }) as NonNullable<ListTimes['lastSweep']>;

it('asked lists: a list is late for which neither this process nor another has asked for longer than its period', () => {
  let ms = 0;
  const lists = new AskedLists({ ...systemClock, monotonic: () => ms });
  const lateAfter = (seconds: number): number[] => {
    ms += 1_000 * seconds;
    return lists.late().map(({ forMs }) => forMs);
  };
  lists.begin('people', PACE);
  expect([lateAfter(69), lateAfter(31)]).toEqual([[], [40_000]]);
  lists.asked('people');
  expect(lateAfter(70)).toEqual([]);
  lists.stored('people', swept('another'), PACE);
  expect(lateAfter(70)).toEqual([]);
  lists.stored('people', swept('another'), PACE);
  expect(lateAfter(1)).toEqual([11_000]);
});
