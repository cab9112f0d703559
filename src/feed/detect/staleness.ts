/**
 * Staleness: a list that has not changed for far longer than its usual pause. A token that lost a permission and a
 * server that repeats old data resemble a quiet list. A false warning is worse than a late one: two weekends are
 * watched first, and the limit is five times the longest pause, thirteen days for a list with office hours.
 */
import { z } from 'zod';

export const usualPauseSchema = z.object({
  /** ISO 8601: since when the list is watched. */
  since: z.iso.datetime(),
  /** Complete sweeps in which something changed. */
  changes: z.number(),
  /** ISO 8601: the last of them. */
  changedAt: z.iso.datetime(),
  /** The longest pause between two of them, in ms: in the current month and in the month before. */
  pausesMs: z.tuple([z.number(), z.number()]).readonly(),
  /** ISO 8601: start of the current month. Older pauses are forgotten, so that no long holiday sets the limit. */
  month: z.iso.datetime(),
});
export type UsualPause = z.infer<typeof usualPauseSchema>;

export const stalenessSchema = z.object({
  kind: z.enum(['unchanged', 'empty']),
  /** ISO 8601. */
  since: z.iso.datetime(),
  /** The longest pause observed. */
  longestPauseMs: z.number(),
});
/** `unchanged`: silent for far longer than its usual pause. `empty`: the list had records and now has none. */
export type Staleness = z.infer<typeof stalenessSchema>;

const DAY_MS = 86_400_000;
/** Two weekends. */
const LEARNING_MS = 14 * DAY_MS;
const LEARNING_CHANGES = 20;
const FAR_BEYOND = 5;
/** One day without a change never yields a warning. */
const ALWAYS_ALLOWED_MS = DAY_MS;
const MONTH_MS = 30 * DAY_MS;

export interface CompletedSweep {
  /** Some record changed, whether reported or muted. */
  changed: boolean;
  /** ISO 8601: end of the sweep. */
  at: string;
  /** ISO 8601: end of the complete sweep before it; null for the first. */
  previousAt: string | null;
  /** The staleness that the sweep before it found. */
  previous: Staleness | undefined;
}

export function usualPauseAfter(
  before: UsualPause | undefined,
  { changed, at, previousAt, previous }: CompletedSweep,
): UsualPause {
  if (before === undefined || previousAt === null)
    return { since: at, changes: 0, changedAt: at, pausesMs: [0, 0], month: at };
  if (!changed) return before;
  // A pause ends with the last sweep that found no change. A week without any sweep is not a pause of a week.
  const silentMs = Math.max(0, Date.parse(previousAt) - Date.parse(before.changedAt));
  // A silence that yielded a warning may have been a fault. It raises the limit by a factor of two at most.
  const pauseMs =
    previous === undefined ? silentMs : Math.min(silentMs, Math.max(DAY_MS, 2 * Math.max(...before.pausesMs)));
  const [now, earlier] = before.pausesMs;
  const isOver = Date.parse(at) - Date.parse(before.month) >= MONTH_MS;
  return {
    since: before.since,
    changes: before.changes + 1,
    changedAt: at,
    pausesMs: isOver ? [pauseMs, now] : [Math.max(now, pauseMs), earlier],
    month: isOver ? at : before.month,
  };
}

export interface SeenRecordCounts {
  /** ISO 8601: the end of the sweep. */
  at: string;
  /** Records it saw. */
  seen: number;
  /** Records that the complete sweep before it saw; null for the first. */
  seenBefore: number | null;
  previous: Staleness | undefined;
}

export function stalenessOf(
  usualPause: UsualPause,
  { at, seen, seenBefore, previous }: SeenRecordCounts,
): Staleness | undefined {
  const { since, changes, changedAt } = usualPause;
  const longestPauseMs = Math.max(...usualPause.pausesMs);
  if (seen === 0 && previous?.kind === 'empty') return previous;
  if (seen === 0 && seenBefore !== null && seenBefore > 0) return { kind: 'empty', since: at, longestPauseMs };
  const isLearnt = changes >= LEARNING_CHANGES && Date.parse(changedAt) - Date.parse(since) >= LEARNING_MS;
  const silentMs = Date.parse(at) - Date.parse(changedAt);
  if (!isLearnt || silentMs <= Math.max(ALWAYS_ALLOWED_MS, FAR_BEYOND * longestPauseMs)) return undefined;
  return { kind: 'unchanged', since: changedAt, longestPauseMs };
}
