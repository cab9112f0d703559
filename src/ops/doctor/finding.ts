/** What `changefeed doctor` says about one thing that it checked. */
import type { WordKey, Words } from '../../words/words.js';

/** In the language of the person; English for `--json`. */
export type Text = Words['t'];

export interface Finding {
  /** `warning`: it works, and a person should know; `error`: it does not work; `skipped`: could not be checked. */
  result: 'ok' | 'warning' | 'error' | 'skipped';
  /** What was checked: `Redis: eviction`, `people: answer`. */
  check: string;
  /** What was seen. No tokens, no contents of records. */
  seen: string;
  /** What to do; null where nothing is to be done. */
  todo: string | null;
}

export function ok(check: string, seen: string): Finding {
  return { result: 'ok', check, seen, todo: null };
}

export function warning(check: string, seen: string, todo: string): Finding {
  return { result: 'warning', check, seen, todo };
}

export function error(check: string, seen: string, todo: string): Finding {
  return { result: 'error', check, seen, todo };
}

export function skipped(check: string, why: string): Finding {
  return { result: 'skipped', check, seen: why, todo: null };
}

/** Clocks that are this far apart make changes look older or newer than they are. */
export const CLOCKS_APART_MS = 60_000;

export function clockFinding(check: string, apartMs: number, whose: WordKey, t: Text): Finding {
  const seconds = Math.round(Math.abs(apartMs) / 1_000);
  if (Math.abs(apartMs) < CLOCKS_APART_MS) return ok(check, t('doctor.near', { seconds: seconds + 1 }));
  const seen = t(apartMs > 0 ? 'doctor.ahead' : 'doctor.behind', { seconds });
  return warning(check, seen, t('doctor.synchronise', { whose: t(whose) }));
}
