/**
 * What follows from all pages together, once the last one is committed: what was the schema's change and what the records'
 * own, who is missing, which pages the next sweep compares with. Every step is committed by itself and may be taken again
 * after a crash; the last one closes the sweep.
 */
import { decideDrift, noDrift } from '../detect/drift.js';
import { usualPauseAfter, stalenessOf } from '../detect/habit.js';
import { isoTime } from '../runtime/clock.js';
import type { SweepMemory } from './judging.js';
import type { SweepDeps, SweepOptions } from './options.js';
import { dropFormer } from './drop-former.js';
import { settleHeld } from './settle-held.js';
import { settleRemovals } from './settle-removals.js';
import { settleSchema } from './settle-schema.js';
import { unfenced, type Settling } from './settling.js';
import type { Checkpoint, SweepCounts, SweepSummary } from './store.js';

/** Pages promoted in one step: what a script may do while Redis waits. */
const PAGES_PER_STEP = 200;

/** Nothing follows: the same members on the same pages, nobody waits, nobody is missing. */
export function isSettled(checkpoint: Checkpoint, memory: SweepMemory, lastSweep: SweepSummary | null): boolean {
  const { finishing: settling, changedPages, drift, pages } = checkpoint;
  if (settling !== true || lastSweep === null || changedPages !== 0) return false;
  if (memory.held.size > 0 || memory.strays) return false;
  const { drifted = [], counts } = lastSweep;
  if (Object.keys(drift?.fields ?? {}).length > 0 || drifted.length > 0) return false;
  return pages === lastSweep.pages && counts.missing === 0;
}

/** @throws ChangefeedError CF_LEASE_LOST */
export async function settle(deps: SweepDeps, options: SweepOptions, settling: Settling): Promise<SweepSummary> {
  const { store, clock } = deps;
  const { list } = options;
  const { token } = settling;
  const decided = await settleSchema(deps, options, {
    ...settling,
    decision: decideDrift(settling.checkpoint.drift ?? noDrift()),
  });
  const released = await settleHeld(deps, options, { ...settling, checkpoint: decided });
  const settleMissing = released.takesOver === true ? dropFormer : settleRemovals;
  const { checkpoint, held, drop, promote } = await settleMissing(deps, options, { ...settling, checkpoint: released });
  for (let at = 0; at < Math.max(promote.length, drop.length); at += PAGES_PER_STEP) {
    const chunk = (pages: readonly number[]): readonly number[] => pages.slice(at, at + PAGES_PER_STEP);
    unfenced(list, await store.promotePages(list, { token, promote: chunk(promote), drop: chunk(drop) }));
  }
  const closed = { completedAt: isoTime(clock.now()), lastSweep: settling.lastSweep };
  const summary = { ...summarise(checkpoint, closed), ...(held === null ? {} : { heldRemovals: held }) };
  unfenced(list, await store.commitPage(list, { token, checkpoint: null, summary, writes: [] }));
  return summary;
}

export function summarise(
  checkpoint: Checkpoint,
  { completedAt, lastSweep }: { completedAt: string; lastSweep: SweepSummary | null },
): SweepSummary {
  const { sweepId, startedAt, mode, pages, counts, muted = {}, decided, source, creations } = checkpoint;
  const changed = isAlive(counts, muted);
  const ended = { at: completedAt, told: lastSweep?.staleness };
  const habit = usualPauseAfter(lastSweep?.usualPause, {
    ...ended,
    changed,
    previousAt: lastSweep?.completedAt ?? null,
  });
  const silence = stalenessOf(habit, { ...ended, seen: counts.seen, seenBefore: lastSweep?.counts.seen ?? null });
  return {
    sweepId,
    startedAt,
    completedAt,
    mode,
    pages,
    counts,
    ...(Object.keys(muted).length === 0 ? {} : { muted }),
    ...(decided === undefined || decided.past.length === 0 ? {} : { drifted: decided.past }),
    ...(decided === undefined || decided.undecided.length === 0 ? {} : { carried: decided.undecided }),
    ...(decided?.begun === undefined || Object.keys(decided.begun).length === 0 ? {} : { begun: decided.begun }),
    ...(creations?.held === undefined ? {} : { heldCreations: creations.held }),
    ...(source === undefined ? {} : { source }),
    usualPause: habit,
    ...(silence === undefined ? {} : { staleness: silence }),
  };
}

/** What a rule kept quiet is a sign of life too. What only looks otherwise (another order, a new signature) is none. */
function isAlive(counts: SweepCounts, muted: Readonly<Record<string, number>>): boolean {
  const { baselined, created, edited, refreshed, touched, deleted } = counts;
  return baselined + created + edited + refreshed + touched + deleted > 0 || Object.keys(muted).length > 0;
}
