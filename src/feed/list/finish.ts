/** Finishes a sweep after its last page. Each step is one commit and may be repeated after a crash. */
import type { Held } from '../detect/held.js';
import { restlessAfter } from '../detect/restless.js';
import { pastAfter } from '../detect/schema-drift/drift.js';
import { stalenessOf, usualPauseAfter } from '../detect/staleness.js';
import { isoTime } from '../../kit/clock.js';
import { afterHeld, heldCreations } from './creations.js';
import type { FeedList } from './list.js';
import { unmatchedIn } from './omitted.js';
import { finishRemovals } from './removals.js';
import type { Checkpoint, SweepCounts, SweepSummary } from '../store/sweep-state.js';

/** Nothing is left to finish: every page has its old members, and nothing is missing or held. */
export function isFinished({ lastSweep, hasUndecided }: FeedList, checkpoint: Checkpoint): boolean {
  const { finishing, changedPages = 0, counts, pages } = checkpoint;
  if (finishing !== true || lastSweep === null || changedPages !== 0 || hasUndecided) return false;
  return pages === lastSweep.pages && counts.held === 0;
}

/** @throws ChangefeedError CF_LEASE_LOST */
export async function finishSweep(list: FeedList): Promise<SweepSummary> {
  const { deps, name, options } = list;
  const { at, snapshots, removals } = await afterHeld(list);
  const creations = heldCreations(list, at);
  const { held, pages } = await finishRemovals(list, { at, snapshots, decision: removals, creations });
  list.expect(await deps.store.promotePages(name, { token: options.token, ...pages }));
  const summary = summarise(
    list,
    list.checkpoint,
    [held, creations].filter((one) => one !== null),
  );
  const heldExamples = creations === null ? [] : list.heldExamples;
  await list.commit({ summary, writes: [], heldExamples });
  return summary;
}

export function summarise(list: FeedList, checkpoint: Checkpoint, held: readonly Held[]): SweepSummary {
  const { lastSweep, newlyDrifted, rules, deps, form } = list;
  const { sweepId, startedAt, epoch, mode, pages, counts, muted = {}, edited = {} } = checkpoint;
  const { source, unreadable, unnamed, longestPage, omitted } = checkpoint;
  const completedAt = isoTime(deps.clock.now());
  const drifted = pastAfter(lastSweep?.drifted ?? [], newlyDrifted);
  const restless = restlessAfter(lastSweep?.restless, { at: completedAt, seen: counts.seen, edited, rules });
  const completed = { at: completedAt, previous: lastSweep?.staleness };
  const usualPause = usualPauseAfter(lastSweep?.usualPause, {
    ...completed,
    changed: hasChanged(counts, muted),
    previousAt: lastSweep?.completedAt ?? null,
  });
  const seenBefore = lastSweep?.counts.seen ?? null;
  const staleness = stalenessOf(usualPause, { ...completed, seen: counts.seen, seenBefore });
  return {
    sweepId,
    startedAt,
    completedAt,
    mode,
    pages,
    counts,
    ...(epoch === undefined ? {} : { epoch }),
    ...(longestPage === undefined ? {} : { longestPage }),
    ...(Object.keys(muted).length === 0 ? {} : { muted }),
    ...(drifted.length === 0 ? {} : { drifted }),
    ...(restless.length === 0 ? {} : { restless }),
    ...(omitted === undefined ? {} : { omitted }),
    ...unmatchedIn(list, checkpoint),
    ...(held.length === 0 ? {} : { held }),
    ...(unreadable === undefined ? {} : { unreadable }),
    ...(unnamed === undefined ? {} : { unnamed }),
    ...(source === undefined ? {} : { source }),
    ...form,
    ...(lastSweep === null ? {} : { foundByWalks: foundByWalks(checkpoint, completedAt, lastSweep) }),
    usualPause,
    ...(staleness === undefined ? {} : { staleness }),
  };
}

/** Assumes that one was found in a minute before: a list that was quiet during one sweep may be about to change. */
const FOUND_AT_FIRST = { found: 1, ofSeconds: 60 };

/** The last sweep counts half: what only walks find differs from sweep to sweep. */
function foundByWalks({ counts, byShortcuts = 0 }: Checkpoint, completedAt: string, lastSweep: SweepSummary): number {
  const { created, edited, refreshed, deleted } = counts;
  const seconds = Math.max(1_000, Date.parse(completedAt) - Date.parse(lastSweep.completedAt)) / 1_000;
  const changes = Math.max(0, created + edited + refreshed + deleted - byShortcuts);
  const now = (changes + FOUND_AT_FIRST.found) / (seconds + FOUND_AT_FIRST.ofSeconds);
  return (now + (lastSweep.foundByWalks ?? now)) / 2;
}

/** Muted changes count, because the list is in use. Another order of keys or a new signature of a link does not. */
function hasChanged(counts: SweepCounts, muted: Readonly<Record<string, number>>): boolean {
  const { baselined, created, edited, refreshed, touched, deleted } = counts;
  return baselined + created + edited + refreshed + touched + deleted > 0 || Object.keys(muted).length > 0;
}
