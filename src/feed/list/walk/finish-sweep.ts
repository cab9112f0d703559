/** Finishes a sweep after its last page. Each step is one commit and may be repeated after a crash. */
import type { Held } from '../../detect/held.js';
import { restlessAfter } from '../../detect/restless.js';
import type { Rules } from '../../detect/rules.js';
import { pastAfter } from '../../detect/schema-drift/drift.js';
import { stalenessOf, usualPauseAfter } from '../../detect/staleness.js';
import { isoTime } from '../../../kit/clock.js';
import { expectCommitted } from '../errors.js';
import { finishRemovals } from '../guards/finish-removals.js';
import { afterHeld, guardOf, heldCreations } from '../guards/guard-creations.js';
import type { FinishStep, SweepDeps, SweepOptions } from '../options.js';
import type { SweepMemory } from '../memory.js';
import type { Checkpoint, FinishedPages, SweepCounts, SweepSummary } from '../../store/sweep-state.js';

/** Pages promoted by one script. More would block Redis for too long. */
const PAGES_PER_STEP = 200;

/** Nothing is left to finish: every page has its old members, and nothing is missing or held. */
export function isFinished(checkpoint: Checkpoint, memory: SweepMemory, lastSweep: SweepSummary | null): boolean {
  const { finishing, changedPages = 0, counts, pages } = checkpoint;
  if (finishing !== true || lastSweep === null || changedPages !== 0 || memory.hasUnconfirmed) return false;
  return pages === lastSweep.pages && lastSweep.counts.missing === 0 && counts.held === 0;
}

/** @throws ChangefeedError CF_LEASE_LOST */
export async function finishSweep(deps: SweepDeps, options: SweepOptions, step: FinishStep): Promise<SweepSummary> {
  const { store, clock } = deps;
  const { list } = options;
  const { token, lastSweep } = step;
  const decided = await afterHeld(deps, list, lastSweep);
  const creations = heldCreations(step.checkpoint, guardOf(options, lastSweep), decided.at);
  const removing = { ...step, ...decided, creations };
  const { checkpoint, held, pages } = options.rules.recognisedOnly
    ? { checkpoint: step.checkpoint, held: null, pages: NO_PAGES }
    : await finishRemovals(deps, options, removing);
  for (const chunk of inSteps(pages)) expectCommitted(list, await store.promotePages(list, { token, ...chunk }));
  const all = [held, creations].filter((one): one is Held => one !== null);
  const { rules } = options;
  const summary = summarise(checkpoint, { completedAt: isoTime(clock.now()), lastSweep, held: all, rules });
  expectCommitted(list, await store.commit(list, { token, summary, writes: [] }));
  return summary;
}

const NO_PAGES: FinishedPages = { promote: [], drop: [], forget: [] };

/** Pages to forget come first: after a crash, the promoted pages no longer show which they are. */
function inSteps({ promote, drop, forget }: FinishedPages): FinishedPages[] {
  return [
    ...chunks(forget).map((pages) => ({ ...NO_PAGES, forget: pages })),
    ...chunks(promote).map((pages) => ({ ...NO_PAGES, promote: pages })),
    ...chunks(drop).map((pages) => ({ ...NO_PAGES, drop: pages })),
  ];
}

function chunks(pages: readonly number[]): number[][] {
  const count = Math.ceil(pages.length / PAGES_PER_STEP);
  return Array.from({ length: count }, (_, index) => pages.slice(index * PAGES_PER_STEP, (index + 1) * PAGES_PER_STEP));
}

interface Closed {
  completedAt: string;
  held: readonly Held[];
  rules: Rules;
}

export function summarise(
  checkpoint: Checkpoint,
  { completedAt, lastSweep, held, rules }: Pick<FinishStep, 'lastSweep'> & Closed,
): SweepSummary {
  const {
    sweepId,
    startedAt,
    epoch,
    mode,
    pages,
    counts,
    muted = {},
    edited = {},
    verdict,
    source,
    unreadable,
    recognisedOnly,
    longestPage,
  } = checkpoint;
  const drifted = pastAfter(lastSweep?.drifted ?? [], verdict?.fields ?? []);
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
    ...(held.length === 0 ? {} : { held }),
    ...(unreadable === undefined ? {} : { unreadable }),
    ...(source === undefined ? {} : { source }),
    ...(recognisedOnly === undefined ? {} : { recognisedOnly }),
    ...foundByWalks(checkpoint, { completedAt, lastSweep }),
    usualPause,
    ...(staleness === undefined ? {} : { staleness }),
  };
}

/** As if one had been found in a minute before: a list that was quiet during one sweep may be about to change. */
const FOUND_AT_FIRST = { found: 1, ofSeconds: 60 };

/** The last sweep counts half: what only walks find differs from sweep to sweep. */
function foundByWalks(
  { counts, byShortcuts = 0 }: Checkpoint,
  { completedAt, lastSweep }: { completedAt: string; lastSweep: SweepSummary | null },
): Pick<SweepSummary, 'foundByWalks'> {
  if (lastSweep === null) return {};
  const { created, edited, refreshed, deleted } = counts;
  const seconds = Math.max(1_000, Date.parse(completedAt) - Date.parse(lastSweep.completedAt)) / 1_000;
  const found = Math.max(0, created + edited + refreshed + deleted - byShortcuts);
  const now = (found + FOUND_AT_FIRST.found) / (seconds + FOUND_AT_FIRST.ofSeconds);
  return { foundByWalks: (now + (lastSweep.foundByWalks ?? now)) / 2 };
}

/** Muted changes count, because the list is in use. Another order of keys or a new signature of a link does not. */
function hasChanged(counts: SweepCounts, muted: Readonly<Record<string, number>>): boolean {
  const { baselined, created, edited, refreshed, touched, deleted } = counts;
  return baselined + created + edited + refreshed + touched + deleted > 0 || Object.keys(muted).length > 0;
}
