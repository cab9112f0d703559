/**
 * How far a list's shortcuts can be trusted: how often each was used, helped and was wrong. A shortcut that is mostly wrong is
 * demoted: it is not used for a while, then tried again, and each failed trial doubles the pause. Pure: evidence in, trust out.
 * A wrong shortcut costs requests only; what it may commit is checked page by page (commit-shortcut.ts).
 */

/** The two ends at which a list may grow, and the pages that hold a named record. */
export const SHORTCUTS = ['last', 'first', 'aimed'] as const;
export type ShortcutName = (typeof SHORTCUTS)[number];

/**
 * - `useful`: it showed something that no walk had shown.
 * - `right`: it showed what it should, and nothing was new.
 * - `wrong`: the page no longer held the named record, came from an older state, or missed what the walk found.
 * - `none`: a use that says nothing, such as a poll of a list in which nothing happens.
 */
export type Evidence = 'useful' | 'right' | 'wrong' | 'none';

export interface Trust {
  used: number;
  useful: number;
  wrong: number;
  /** Evidence that still counts. Older evidence weighs less. */
  recent: { good: number; wrong: number };
  /** Demotions in a row. */
  demotions: number;
  /** ms since the epoch: not used before. 0: in use. */
  pausedUntil: number;
}

export type TrustOfList = Readonly<Record<ShortcutName, Trust>>;

/** Fewer pieces of evidence decide nothing. A trial after a demotion needs fewer. */
const FEWEST = 8;
const FEWEST_IN_TRIAL = 3;
/** Evidence is halved at this sum, so that a shortcut that stops working is noticed within as many uses. */
const MOST_RECENT = 40;
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 3_600_000;

export function noTrust(): Trust {
  return { used: 0, useful: 0, wrong: 0, recent: { good: 0, wrong: 0 }, demotions: 0, pausedUntil: 0 };
}

export function noTrustOfList(): TrustOfList {
  return { last: noTrust(), first: noTrust(), aimed: noTrust() };
}

export function isTrusted({ pausedUntil }: Trust, nowMs: number): boolean {
  // A time further away than any pause comes from a clock that was wrong.
  return pausedUntil <= nowMs || pausedUntil > nowMs + LONGEST_PAUSE_MS;
}

/** The trust after one use. */
export function trustAfter(trust: Trust, evidence: Evidence, nowMs: number): Trust {
  const used = trust.used + 1;
  if (evidence === 'none') return { ...trust, used };
  const wrong = evidence === 'wrong' ? 1 : 0;
  const recent = fade({ good: trust.recent.good + 1 - wrong, wrong: trust.recent.wrong + wrong });
  const next = {
    ...trust,
    used,
    useful: trust.useful + (evidence === 'useful' ? 1 : 0),
    wrong: trust.wrong + wrong,
    recent,
  };
  if (isMostlyWrong(next)) return demoted(next, nowMs);
  return isProven(next) ? { ...next, demotions: 0 } : next;
}

/** The trust after evidence that came without a use: the walk found what the shortcut should have shown. */
export function trustAfterMiss(trust: Trust, nowMs: number): Trust {
  const { used } = trust;
  return { ...trustAfter(trust, 'wrong', nowMs), used };
}

/** Stops a shortcut that costs requests and yields nothing. */
export function demoted(trust: Trust, nowMs: number): Trust {
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(trust.demotions, 10), LONGEST_PAUSE_MS);
  return {
    ...trust,
    recent: { good: 0, wrong: 0 },
    demotions: trust.demotions + 1,
    pausedUntil: nowMs + pauseMs,
  };
}

function isMostlyWrong({ recent: { good, wrong }, demotions }: Trust): boolean {
  return wrong + good >= (demotions > 0 ? FEWEST_IN_TRIAL : FEWEST) && wrong > good;
}

function isProven({ recent: { good, wrong }, demotions }: Trust): boolean {
  return demotions > 0 && good >= FEWEST && good > 2 * wrong;
}

function fade(recent: Trust['recent']): Trust['recent'] {
  if (recent.good + recent.wrong < MOST_RECENT) return recent;
  return { good: Math.floor(recent.good / 2), wrong: Math.floor(recent.wrong / 2) };
}
