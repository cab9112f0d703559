/** When to look at the todos again, and what counts as late. Pure. */
import type { Look } from './store.js';

/** Between two looks for the sake of a timer, at least this. */
const LEAST_BETWEEN_MS = 5_000;

/** A timer that fires within this of its moment, and the time a look takes, is on time. */
const PATIENCE_MS = 30_000;

/**
 * When to look, for a timer that no look has confirmed yet. Looks for the sake of timers take at most a third of the time: a
 * large list would else be swept without an end whenever its todos are due one after the other.
 */
export function lookAt(timerMs: number, last: Look): number {
  return Math.max(timerMs, Date.parse(last.startedAt) + Math.max(LEAST_BETWEEN_MS, 3 * tookMs(last)));
}

/** A due date that was learnt after its time (a todo made for yesterday) is not late: late is what was missed. */
export function isLate(
  atMs: number,
  { learntAt, last, nowMs }: { learntAt: string | null; last: Look; nowMs: number },
) {
  const from = learntAt === null ? atMs : Math.max(atMs, Date.parse(learntAt));
  return nowMs - from > PATIENCE_MS + 4 * tookMs(last);
}

function tookMs({ startedAt, completedAt }: Look): number {
  return Date.parse(completedAt) - Date.parse(startedAt);
}
