/**
 * Commits what a page that was read outside the order of a walk shows for certain. A shortcut may help or be useless, but it must
 * not make anything wrong, so a page is dropped as a whole when anything on it suggests an older state, another list, or too many
 * new records, and a record is left to the walk when its decision needs the whole list (decide-records.ts). What is committed is what the
 * walk would commit: the same classification, the same event ids, under the same lease.
 */
import { isSuspicious } from '../../detect/creation.js';
import { heldOf } from '../../detect/held.js';
import { NO_VERDICT } from '../../detect/survey.js';
import type { SchemaDelta } from '../../detect/schema-drift/schema.js';
import type { ChangeEvent } from '../../events/types.js';
import type { CountedKind } from '../counts.js';
import { expectCommitted } from '../errors.js';
import { guardOf } from '../guard-creations.js';
import { inParts } from '../page-parts.js';
import { isSameSource } from '../start-sweep.js';
import type { Checkpoint, FencingToken, ListState, SweepSummary } from '../store.js';
import { comparePage, readRecords, showsRecentChange, whyDoubtful, type Differing } from './compare-page.js';
import { decideRecords, type Accepted, type Decided } from './decide-records.js';
import type { ShortcutAnswer, ShortcutDeps, ShortcutOptions } from './shortcut-page.js';

/**
 * - `no baseline`, `source`, `held`, `finishing`: the state of the list does not allow shortcuts now.
 * - `malformed`: a record without an id.
 * - `no overlap`: no record of the page is known.
 * - `lagging`: a record is older than its stored record, or shows earlier contents.
 * - `overtaken`: a record was committed after this page was requested.
 * - `too many new`: the guard on new records decides about a whole list.
 */
export type DropReason =
  | 'no baseline'
  | 'source'
  | 'held'
  | 'finishing'
  | 'malformed'
  | 'no overlap'
  | 'lagging'
  | 'overtaken'
  | 'too many new';

export type ShortcutResult = { outcome: 'dropped'; why: DropReason } | ShownPage;

/** What a page showed, and what was committed of it. */
export interface ShownPage {
  outcome: 'shown';
  /** Keys of its records. */
  keys: readonly string[];
  nextCursor: string | null;
  /** A record of the page was known before. */
  overlaps: boolean;
  /** A record was changed so recently that no kept cursor can lead to an old answer with it. */
  isLive: boolean;
  created: readonly string[];
  /** Known records whose stored record was replaced, with or without an event. */
  rewritten: readonly string[];
  /** Records that differ and are left to the walk. */
  left: number;
  /** To be added to the counts of the walk. Its `seen` counts these records when it sees them itself. */
  counts: Readonly<Record<'created' | 'edited' | 'refreshed', number>>;
  events: readonly ChangeEvent[];
}

/** Why a list's shortcuts may commit nothing now; null when they may. */
export function whyNoShortcut(
  { baselineAt, lastSweep }: ListState,
  checkpoint: Checkpoint | null,
  source: string | undefined,
): DropReason | null {
  if (baselineAt === null || lastSweep === null || checkpoint?.mode === 'baseline') return 'no baseline';
  if (!isSameSource(lastSweep.source, source) || !isSameSource(checkpoint?.source, source)) return 'source';
  if (checkpoint?.takesOver === true) return 'source';
  if (checkpoint?.finishing === true) return 'finishing';
  const { survey, verdict } = checkpoint ?? {};
  if (survey === 'creations' || (verdict?.heldSince ?? null) !== null) return 'held';
  return heldOf(lastSweep.held, 'creations') === undefined ? null : 'held';
}

/** @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST */
export async function commitShortcut(
  deps: ShortcutDeps,
  options: ShortcutOptions,
  asked: ShortcutAnswer,
): Promise<ShortcutResult> {
  const { shortcut, answer, state, checkpoint } = asked;
  const off = whyNoShortcut(state, checkpoint, deps.source);
  if (off !== null) return dropped(off);
  const seen = readRecords(answer, options.rules);
  if (seen === null) return dropped('malformed');
  const page = await comparePage(deps.store, options.list, { seen, page: shortcut.page });
  const { overlaps, differing } = page;
  if (!overlaps && seen.length > 0 && shortcut.follows !== true) return dropped('no overlap');
  const keys = seen.map(({ key }) => key);
  const isLive = showsRecentChange(seen, options.rules, asked.askedAtMs);
  const shown = { outcome: 'shown', keys, nextCursor: answer.nextCursor, overlaps, isLive } as const;
  if (differing.length === 0) return { ...shown, ...NOTHING };
  const doubt = whyDoubtful(differing, options.rules, asked);
  if (doubt !== null) return dropped(doubt);
  const createdBefore = await deps.store.createdByShortcuts(options.list);
  if (isTooManyNew(options, asked, { differing, createdBefore: createdBefore.length })) return dropped('too many new');
  const isDoubtful = shortcut.doubtful === true && !isLive;
  const decided = await decideRecords(deps, options, {
    asked,
    seen,
    page,
    isDoubtful,
    createdBefore: new Set(createdBefore),
  });
  if (decided === null) return dropped('lagging');
  await commitAll(deps, options, { token: asked.token, page: shortcut.page, accepted: decided.accepted });
  return { ...shown, ...summarised(decided) };
}

const NOTHING = {
  created: [],
  rewritten: [],
  left: 0,
  counts: { created: 0, edited: 0, refreshed: 0 },
  events: [],
} satisfies Partial<ShownPage>;

function dropped(why: DropReason): ShortcutResult {
  return { outcome: 'dropped', why };
}

/**
 * The guard on new records, with the whole list as its measure: new records of this page, those that shortcuts created since the
 * last walk began, and those that the walk under way created. The walk keeps its own tally, because it counts each record when it
 * sees it.
 */
function isTooManyNew(
  options: ShortcutOptions,
  { state: { lastSweep }, checkpoint }: ShortcutAnswer,
  { differing, createdBefore }: { differing: readonly Differing[]; createdBefore: number },
): boolean {
  const freshOnPage = differing.filter(({ isNew }) => isNew).length;
  if (freshOnPage === 0) return false;
  const guard = guardOf(options, lastSweep);
  const { allowed } = checkpoint?.verdict ?? NO_VERDICT;
  const fresh = guard.reported + (checkpoint?.fresh ?? 0) + createdBefore + freshOnPage;
  return isSuspicious({ seen: guard.before + fresh, fresh, allowed }, guard);
}

/** In parts, so that a script does not block Redis for long (page-parts.ts). Each part is complete by itself. */
async function commitAll(
  { store }: ShortcutDeps,
  { list, recordsPerPart }: ShortcutOptions,
  { token, page, accepted }: { token: FencingToken; page: number; accepted: readonly Accepted[] },
): Promise<void> {
  if (accepted.length === 0) return;
  for (const part of inParts(accepted, recordsPerPart)) {
    const commit = {
      token,
      writes: part.map(({ write }) => write),
      schema: sum(part.map(({ schema }) => schema)),
      createdByShortcut: part.filter(({ isNew }) => isNew).map(({ key }) => key),
      ...(part.some(({ isNew }) => !isNew) && { page: { number: page, stored: null } }),
    };
    expectCommitted(list, await store.commit(list, commit));
  }
}

function sum(deltas: readonly SchemaDelta[]): SchemaDelta {
  const total: SchemaDelta = new Map();
  for (const delta of deltas) for (const [name, by] of delta) total.set(name, (total.get(name) ?? 0) + by);
  return total;
}

function summarised({
  accepted,
  left,
}: Decided): Omit<ShownPage, 'outcome' | 'keys' | 'nextCursor' | 'overlaps' | 'isLive'> {
  const count = (kind: CountedKind): number => accepted.filter((one) => one.kind === kind).length;
  return {
    created: accepted.filter(({ isNew }) => isNew).map(({ key }) => key),
    rewritten: accepted.filter(({ isNew }) => !isNew).map(({ key }) => key),
    left,
    counts: { created: count('created'), edited: count('edited'), refreshed: count('refreshed') },
    events: accepted.flatMap(({ write }) => (write.event === null ? [] : [write.event])),
  };
}

/** The counts of a walk including what a shortcut committed while it is under way. */
export function withShortcut(counts: Checkpoint['counts'], found: ShownPage['counts']): SweepSummary['counts'] {
  const { created, edited, refreshed } = counts;
  return {
    ...counts,
    created: created + found.created,
    edited: edited + found.edited,
    refreshed: refreshed + found.refreshed,
  };
}
