/** At the checkpoint of an interrupted sweep, unless that is too old; otherwise at the first page. */
import { createVisitedCursors, type VisitedCursors } from '../../api/visited-cursors.js';
import type { Verdict } from '../../detect/survey.js';
import { heldOf } from '../../detect/held.js';
import { isoTime } from '../../../kit/clock.js';
import { isYounger } from '../../../kit/stored-time.js';
import { expectCommitted } from '../errors.js';
import { isSameSource } from '../guards/source.js';
import { isOtherForm, type SweepDeps, type SweepOptions } from '../options.js';
import type { Checkpoint, FencingToken, StoredSweep, SweepCounts } from '../../store/sweep-state.js';

/** An older checkpoint is not resumed: its first pages show another day. */
const CHECKPOINT_LIFE_MS = 3_600_000;
/** Later it may lead elsewhere without an error, and records be missed. Starting again costs requests only. */
export const CURSOR_LIFE_MS = 300_000;

export interface WalkStart {
  verdict: Verdict;
  /** What an earlier walk of the same sweep has reported. */
  counts: SweepCounts;
  fresh: number;
}

/** @throws ChangefeedError CF_LEASE_LOST */
export async function startWalk(
  { workspace, store, clock, log, source }: SweepDeps,
  { list, rules, again = false, epoch }: SweepOptions,
  { token, stored, start }: { token: FencingToken; stored: StoredSweep; start: WalkStart },
): Promise<{ checkpoint: Checkpoint; visited: VisitedCursors }> {
  const { checkpoint, cursors, cutOff, state } = stored;
  const now = clock.now();
  // The last sweep of another source says nothing about this one.
  const lastPages = isSameSource(state.lastSweep?.source, source) ? state.lastSweep?.pages : undefined;
  const isSameForm = (checkpoint?.recognisedOnly ?? false) === rules.recognisedOnly;
  if (checkpoint !== null && isSameForm && isSameSource(checkpoint.source, source) && isResumable(checkpoint, now)) {
    const facts = { workspace, list, sweepId: checkpoint.sweepId, pages: checkpoint.pages };
    log[again ? 'debug' : 'info'](facts, 'sweep resumed');
    return {
      checkpoint,
      visited: createVisitedCursors({ firstPage: checkpoint.firstPage, cursors, lastPages }),
    };
  }
  if (checkpoint !== null || cutOff) expectCommitted(list, await store.abandon(list, token));
  expectCommitted(list, await store.beginWalk(list, token));
  const isOther = isOtherForm(state.lastSweep, rules);
  const sweepId = `${list}-${token}-${now.toString(36)}`;
  if (isOther)
    log.info({ workspace, list, sweepId }, 'the list keeps its records in another form: another baseline is taken');
  const takesOver = state.baselineAt === null && isTakeover(stored, source);
  const fresh: Checkpoint = {
    sweepId,
    startedAt: isoTime(now),
    ...(epoch !== undefined && { epoch }),
    mode: state.baselineAt === null || isOther ? 'baseline' : 'changes',
    ...((state.quiet || isOther) && { quiet: true }),
    ...(rules.recognisedOnly && { recognisedOnly: true }),
    cursor: null,
    pages: 0,
    counts: start.counts,
    ...(start.fresh > 0 && { fresh: start.fresh }),
    firstPage: null,
    ...(source !== undefined && { source }),
    ...(takesOver && { takesOver }),
    ...(state.baselineAt !== null && { verdict: start.verdict }),
  };
  return { checkpoint: fresh, visited: createVisitedCursors({ firstPage: null, cursors: [], lastPages }) };
}

/** The stored records belong to another source, by its address or by its contents. This baseline replaces them. */
function isTakeover({ checkpoint, state: { lastSweep } }: StoredSweep, source: string | undefined): boolean {
  if (checkpoint?.takesOver === true || !isSameSource(checkpoint?.source, source)) return true;
  if (lastSweep === null) return false;
  return !isSameSource(lastSweep.source, source) || heldOf(lastSweep.held, 'creations')?.why === 'replaced';
}

/** One that was stopped while it was finished would decide removals by pages that may show the records again now. */
function isResumable({ startedAt, readAt = startedAt, finishing, recognisedOnly }: Checkpoint, now: number): boolean {
  if (finishing === true) return recognisedOnly === true;
  return isYounger(startedAt, now, CHECKPOINT_LIFE_MS) && isYounger(readAt, now, CURSOR_LIFE_MS);
}
