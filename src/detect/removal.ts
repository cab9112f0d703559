/**
 * How a deletion is decided. From the members of pages of complete sweeps alone: a record that stood on some page of the
 * last complete sweep and on none of this one is missing; missing in `confirm` complete sweeps in a row, it is deleted.
 * When too many are missing at once, none is: a broken answer is likelier than a mass deletion, and a person decides.
 */

export interface RemovalRules {
  /** Complete sweeps in a row that must not show a record. @defaultValue 2 */
  confirm: number;
  /** Held when more than this share of the list is missing … @defaultValue 0.2 */
  maxShare: number;
  /** … and more than this many records. @defaultValue 10 */
  maxCount: number;
}

export const DEFAULT_REMOVALS: RemovalRules = { confirm: 2, maxShare: 0.2, maxCount: 10 };

export interface Missing {
  /** Complete sweeps in a row that did not show the record. */
  sweeps: number;
  /** ISO 8601: end of the first of them. */
  since: string;
  /** The last of them, so that a sweep that resumes counts once. */
  sweep: string;
}

/**
 * In place of a page, which count from 1: records that walks given up since the last complete sweep have shown and that it
 * had not. They were told of, or learnt; so when the next complete sweep does not show them, they are missing like any other.
 */
export const STRAYS = 0;

/** Members of pages: what stood there in the last complete sweep, and what stands there now where that differs. */
export interface MembershipChange {
  before: ReadonlyMap<number, readonly string[]>;
  /** Only pages of other members; a page that is neither here nor beyond `pages` is as before. */
  changed: ReadonlyMap<number, readonly string[]>;
  /** Pages of this sweep. */
  pages: number;
}

/** Who stood on some page before and stands on none now. A record that only changed its page has not left. */
export function vanished({ before, changed, pages }: MembershipChange): string[] {
  const isAsBefore = (page: number): boolean => page !== STRAYS && page <= pages && !changed.has(page);
  const present = new Set<string>();
  for (const [, keys] of changed) for (const key of keys) present.add(key);
  for (const [page, keys] of before) {
    if (isAsBefore(page)) for (const key of keys) present.add(key);
  }
  const left = new Set<string>();
  for (const [page, keys] of before) {
    if (!isAsBefore(page)) for (const key of keys) if (!present.has(key)) left.add(key);
  }
  return [...left];
}

/** The missing after one more complete sweep: those that came back are out, the others count one more. */
export function missingAfter(
  before: ReadonlyMap<string, Missing>,
  { left, returned, sweep, at }: { left: readonly string[]; returned: ReadonlySet<string>; sweep: string; at: string },
): Map<string, Missing> {
  const after = new Map<string, Missing>();
  for (const [key, entry] of before) {
    if (returned.has(key)) continue;
    after.set(key, entry.sweep === sweep ? entry : { ...entry, sweeps: entry.sweeps + 1, sweep });
  }
  for (const key of left) if (!after.has(key)) after.set(key, { sweeps: 1, since: at, sweep });
  return after;
}

export interface HeldRemovals {
  /** Records missing that nobody has accepted as removed. */
  count: number;
  /** Of how many. */
  of: number;
  /** ISO 8601: the sweep that held them. What is accepted later are the records missing by then. */
  at: string;
}

export type RemovalDecision = { deleted: string[]; held: HeldRemovals | null };

export function decideRemovals(
  missing: ReadonlyMap<string, Missing>,
  { present, rules, acceptedAt, at }: { present: number; rules: RemovalRules; acceptedAt: string | null; at: string },
): RemovalDecision {
  const isAccepted = ({ since }: Missing): boolean => acceptedAt !== null && since <= acceptedAt;
  const confirmed = [...missing].filter(([, entry]) => entry.sweeps >= rules.confirm);
  const count = [...missing.values()].filter((entry) => !isAccepted(entry)).length;
  const of = present + missing.size;
  if (count <= rules.maxCount || count <= rules.maxShare * of)
    return { deleted: confirmed.map(([key]) => key), held: null };
  return { deleted: confirmed.filter(([, entry]) => isAccepted(entry)).map(([key]) => key), held: { count, of, at } };
}
