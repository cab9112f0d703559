/**
 * A list's habit: how long it is used to standing still. Learnt from its own sweeps, so that a list that used to change and
 * is silent far beyond its habit can be told from one that is simply quiet: a token that lost its permission, an account
 * that was left, a server that shows yesterday for ever all look like "nothing happened".
 *
 * Which failure is worse: a warning at every long weekend is one that nobody reads any more. So two weekends must have been
 * seen before anything is said, the longest pause counts and not the usual one, and "far beyond" is five times that: a list
 * of office hours (longest pause 63 h, a weekend) may rest for thirteen days, longer than the longest holidays; one that
 * changes around the clock is missed after a day.
 */

export interface UsualPause {
  /** ISO 8601: since when the list is watched. */
  since: string;
  /** Complete sweeps that saw something change. */
  changes: number;
  /** ISO 8601: the last of them. */
  changedAt: string;
  /** The longest pause between two of them, ms: in the month under way, and in the one before. */
  pausesMs: readonly [now: number, before: number];
  /** ISO 8601: when that month began. What is older is forgotten: one long holiday is not the measure for ever. */
  month: string;
}

/** `unchanged`: silent far beyond its habit. `empty`: it had records, and shows none. */
export interface Staleness {
  kind: 'unchanged' | 'empty';
  /** ISO 8601. */
  since: string;
  /** The longest pause it used to make. */
  longestPauseMs: number;
}

const DAY_MS = 86_400_000;
/** Two weekends. */
const LEARNING_MS = 14 * DAY_MS;
const LEARNING_CHANGES = 20;
const FAR_BEYOND = 5;
/** Whatever the habit: a day without any change is nothing to wake somebody for. */
const ALWAYS_ALLOWED_MS = DAY_MS;
const MONTH_MS = 30 * DAY_MS;

export interface WatchedSweep {
  /** Did anything about the list's records change, told or muted? */
  changed: boolean;
  /** ISO 8601: its end. */
  at: string;
  /** ISO 8601: the end of the complete sweep before it; null for the first. */
  previousAt: string | null;
  /** What that one said. */
  told: Staleness | undefined;
}

export function usualPauseAfter(
  before: UsualPause | undefined,
  { changed, at, previousAt, told }: WatchedSweep,
): UsualPause {
  if (before === undefined || previousAt === null)
    return { since: at, changes: 0, changedAt: at, pausesMs: [0, 0], month: at };
  if (!changed) return before;
  // Known to be silent is only what was looked at: a change found after a week in which nobody looked was no pause of a week.
  const silentMs = Math.max(0, Date.parse(previousAt) - Date.parse(before.changedAt));
  // A silence that was told was perhaps a fault: it teaches little, and a list that has become quieter is learnt step by step.
  const pauseMs =
    told === undefined ? silentMs : Math.min(silentMs, Math.max(DAY_MS, 2 * Math.max(...before.pausesMs)));
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

export interface Shown {
  /** ISO 8601: the end of the sweep. */
  at: string;
  /** Records it saw. */
  seen: number;
  /** Records the complete sweep before it saw; null for the first. */
  seenBefore: number | null;
  /** What that one said. */
  told: Staleness | undefined;
}

export function stalenessOf(habit: UsualPause, { at, seen, seenBefore, told }: Shown): Staleness | undefined {
  const { since, changes, changedAt } = habit;
  const longestPauseMs = Math.max(...habit.pausesMs);
  if (seen === 0 && told?.kind === 'empty') return told;
  if (seen === 0 && seenBefore !== null && seenBefore > 0) return { kind: 'empty', since: at, longestPauseMs };
  const isKnown = changes >= LEARNING_CHANGES && Date.parse(changedAt) - Date.parse(since) >= LEARNING_MS;
  const silentMs = Date.parse(at) - Date.parse(changedAt);
  if (!isKnown || silentMs <= Math.max(ALWAYS_ALLOWED_MS, FAR_BEYOND * longestPauseMs)) return undefined;
  return { kind: 'unchanged', since: changedAt, longestPauseMs };
}
