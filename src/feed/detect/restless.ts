/**
 * Fields that are edited on most rows again and again: a formula that counts days, or a link signed in a way that is
 * not known here. Each such change is an event of its record; a person should say what the field is. Pure.
 */
import { z } from 'zod';
import type { Rules } from './rules.js';

/** A list with fewer rows has no "most rows". */
const FEWEST_ROWS = 10;
/** A list is swept every few seconds: a few quiet sweeps do not end the problem. */
const SHORTEST_MS = 600_000;
/** After a first time, for instance an import: what happens every night is seen again by then. */
const FIRST_MS = 2 * 86_400_000;
/** Times after which it is reported: two may be a correction of the first. */
const OFTEN = 3;

export const restlessField = z.object({
  field: z.string(),
  /** The share of the rows that had an edit of the field, in the last such sweep. */
  share: z.number(),
  /** Complete sweeps in which most rows had an edit of the field. */
  times: z.number(),
  /** ISO 8601: the first and the last of them. */
  since: z.iso.datetime(),
  at: z.iso.datetime(),
  /** It is over when nothing has happened for so long. */
  keptMs: z.number(),
});
export type RestlessField = z.infer<typeof restlessField>;

export interface EditsOfSweep {
  /** ISO 8601: when it was complete. */
  at: string;
  seen: number;
  /** Field → rows. */
  edited: Readonly<Record<string, number>>;
  rules: Rules;
}

export function restlessAfter(
  before: readonly RestlessField[] = [],
  { at, seen, edited, rules }: EditsOfSweep,
): RestlessField[] {
  const restless = Object.keys(edited).filter((field) => isMost(edited[field] ?? 0, seen));
  const later = (since: string): number => Date.parse(at) - Date.parse(since);
  const lasting = before.filter((one) => later(one.at) < one.keptMs);
  const quiet = lasting.filter(({ field }) => {
    const isSettled = rules.isSystemKept(field.normalize('NFC')) || !rules.compares(field.normalize('NFC'));
    return !restless.includes(field) && !isSettled;
  });
  const moved = restless.map((field): RestlessField => {
    const share = Math.round((100 * (edited[field] ?? 0)) / seen) / 100;
    const earlier = lasting.find((one) => one.field === field);
    if (earlier === undefined) return { field, share, times: 1, since: at, at, keptMs: FIRST_MS };
    const keptMs = Math.max(SHORTEST_MS, 3 * later(earlier.at));
    return { ...earlier, share, times: earlier.times + 1, at, keptMs };
  });
  return [...quiet, ...moved];
}

function isMost(rows: number, seen: number): boolean {
  return rows >= FEWEST_ROWS && rows > seen / 2;
}

export function isOften({ times }: RestlessField): boolean {
  return times >= OFTEN;
}
