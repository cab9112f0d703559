/**
 * Finishes a sweep after its last page: decides about schema drift, releases records from quarantine, finds removals, and makes
 * this sweep's pages the ones that the next sweep compares with. Each step is one commit and may be repeated after a crash. The
 * last commit closes the sweep.
 */
import { decideDrift, movesOfSchema, noDrift, pastAfter, schemaEvent } from '../detect/schema-drift/drift.js';
import { stalenessOf, usualPauseAfter } from '../detect/staleness.js';
import { isoTime } from '../runtime/clock.js';
import { dropFormerRecords } from './drop-former-records.js';
import { expectCommitted } from './errors.js';
import { finishRemovals, type FinishedPages } from './finish-removals.js';
import { observationOf, type FinishStep, type SweepDeps, type SweepOptions } from './options.js';
import { releaseQuarantine } from './release-quarantine.js';
import type { SweepMemory } from './start-sweep.js';
import type { Checkpoint, SweepCounts, SweepSummary } from './store.js';

/** Pages promoted by one script. More would block Redis for too long. */
const PAGES_PER_STEP = 200;

/** Nothing is left to finish: every page has its old members, and nothing is in quarantine, missing, moving or drifted. */
export function isFinished(checkpoint: Checkpoint, memory: SweepMemory, lastSweep: SweepSummary | null): boolean {
  const { finishing, changedPages = 0, drift, pages } = checkpoint;
  if (finishing !== true || lastSweep === null || changedPages !== 0) return false;
  if (memory.quarantined.size > 0 || memory.hasUnconfirmed) return false;
  const { drifted = [], counts } = lastSweep;
  if (Object.keys(drift?.fields ?? {}).length > 0 || drifted.length > 0) return false;
  return pages === lastSweep.pages && counts.missing === 0;
}

/** @throws ChangefeedError CF_LEASE_LOST */
export async function finishSweep(deps: SweepDeps, options: SweepOptions, step: FinishStep): Promise<SweepSummary> {
  const { store, clock } = deps;
  const { list } = options;
  const { token } = step;
  const decided = await finishSchema(deps, options, step);
  const released = await releaseQuarantine(deps, options, { ...step, checkpoint: decided });
  const finishMembers = released.takesOver === true ? dropFormerRecords : finishRemovals;
  const { checkpoint, held, pages } = await finishMembers(deps, options, { ...step, checkpoint: released });
  for (const chunk of inSteps(pages)) expectCommitted(list, await store.promotePages(list, { token, ...chunk }));
  const closed = { completedAt: isoTime(clock.now()), lastSweep: step.lastSweep };
  const summary = { ...summarise(checkpoint, closed), ...(held === null ? {} : { heldRemovals: held }) };
  expectCommitted(list, await store.commit(list, { token, summary, writes: [] }));
  return summary;
}

/** Pages to forget come first: after a crash, the promoted pages no longer show which they are. */
function inSteps({ promote, drop, forget }: FinishedPages): FinishedPages[] {
  const none = { promote: [], drop: [], forget: [] };
  return [
    ...chunks(forget).map((pages) => ({ ...none, forget: pages })),
    ...chunks(promote).map((pages) => ({ ...none, promote: pages })),
    ...chunks(drop).map((pages) => ({ ...none, drop: pages })),
  ];
}

function chunks(pages: readonly number[]): number[][] {
  const count = Math.ceil(pages.length / PAGES_PER_STEP);
  return Array.from({ length: count }, (_, index) => pages.slice(index * PAGES_PER_STEP, (index + 1) * PAGES_PER_STEP));
}

/** Decides about schema drift and emits its events. The decision is kept with the checkpoint, so that it is made once. */
async function finishSchema(
  deps: SweepDeps,
  options: SweepOptions,
  { checkpoint, token, lastSweep }: FinishStep,
): Promise<Checkpoint> {
  const { store, workspace, log } = deps;
  const { list, rules } = options;
  if (checkpoint.decided !== undefined) return checkpoint;
  const { drifted: changes, undecided, begun } = decideDrift(checkpoint.drift ?? noDrift());
  const drifted = rules.collapse ? changes : [];
  const seen = new Map(Object.entries(checkpoint.drift?.fields ?? {}));
  const moved = drifted.flatMap(({ field }) => {
    const one = seen.get(field);
    return one === undefined ? [] : [{ field, moves: movesOfSchema(one) }];
  });
  const past = pastAfter(lastSweep?.drifted ?? [], moved);
  const decided = {
    ...checkpoint,
    decided: { drifted: past.slice(past.length - moved.length), past, undecided, begun },
  };
  if (drifted.length === 0) return decided;

  const fields = drifted.map(({ field }) => field);
  const sequences = (await store.schemaSequences(list, fields)).map((sequence) => sequence + 1);
  const observation = observationOf(deps, options, { checkpoint, lastSweep });
  const events = drifted.map((change, index) =>
    schemaEvent(change, { rules, observation, sequence: sequences[index] ?? 1 }),
  );
  const commit = {
    token,
    checkpoint: decided,
    writes: [],
    events,
    schemaSequences: fields.map((field, index) => [field, sequences[index] ?? 1] as const),
  };
  expectCommitted(list, await store.commit(list, commit));
  log.warn({ workspace, list, fields: fields.length, sweepId: checkpoint.sweepId }, 'schema changed');
  return decided;
}

export function summarise(
  checkpoint: Checkpoint,
  { completedAt, lastSweep }: { completedAt: string; lastSweep: SweepSummary | null },
): SweepSummary {
  const { sweepId, startedAt, mode, pages, counts, muted = {}, decided, source, creations, unreadable } = checkpoint;
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
    ...(Object.keys(muted).length === 0 ? {} : { muted }),
    ...(decided === undefined || decided.past.length === 0 ? {} : { drifted: decided.past }),
    ...(decided === undefined || decided.undecided.length === 0 ? {} : { carried: decided.undecided }),
    ...(decided?.begun === undefined || Object.keys(decided.begun).length === 0 ? {} : { begun: decided.begun }),
    ...(creations?.held === undefined ? {} : { heldCreations: creations.held }),
    ...(unreadable === undefined ? {} : { unreadable }),
    ...(source === undefined ? {} : { source }),
    usualPause,
    ...(staleness === undefined ? {} : { staleness }),
  };
}

/** Muted changes count, because the list is in use. Another order of keys or a new picture signature does not. */
function hasChanged(counts: SweepCounts, muted: Readonly<Record<string, number>>): boolean {
  const { baselined, created, edited, refreshed, touched, deleted } = counts;
  return baselined + created + edited + refreshed + touched + deleted > 0 || Object.keys(muted).length > 0;
}
