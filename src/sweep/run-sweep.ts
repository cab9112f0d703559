/**
 * Runs one complete sweep of one list: from the checkpoint (or the first page) along the cursors to the end, page by page. Each
 * page is classified and then committed together with its events and the checkpoint. Unchanged pages are skipped, and their checkpoint
 * follows within two seconds. After a crash, the pages since the last commit are read again.
 *
 * A sweep is complete when a page named no next cursor and the last step of `finish-sweep.ts` is committed. A page that cannot be read, a
 * cursor that repeats and the first page in place of a later one end it as incomplete, and nothing is decided about removals. This file must
 * not know HTTP or Redis.
 */
import { noFieldCanDrift, withOrdinaryFields } from '../detect/schema-drift/drift.js';
import { isoTime } from '../runtime/clock.js';
import { countsOfNextWalk, noCounts } from './counts.js';
import { expectCommitted } from './errors.js';
import { finishSweep, isFinished, summarise } from './finish-sweep.js';
import { allowedByPerson } from './guard-creations.js';
import { withLease, type Held } from './lease-keeper.js';
import type { SweepDeps, SweepOptions } from './options.js';
import { createReadAhead } from './read-ahead.js';
import { releaseQuarantine } from './release-quarantine.js';
import { checkSource } from './source.js';
import { CURSOR_LIFE_MS, restoreMemory, startWalk, type WalkStart } from './start-sweep.js';
import {
  eventsOf,
  type Checkpoint,
  type FencingToken,
  type StoredSweep,
  type SweepCounts,
  type SweepSummary,
} from './store.js';
import { takePage, type Position } from './take-page.js';
import { mayBeSkipped } from './unchanged-page.js';
import { beginShortcuts, type RunOptions } from './walk-shortcuts.js';

export type { RunOptions } from './walk-shortcuts.js';

/** Pages requested ahead. On one connection each, they hide the latency of the API; more would only wait for the budget. */
const PAGES_AHEAD = 12;
/** How long unchanged pages may wait for a commit. After a crash they are read again. */
const UNCOMMITTED_MS = 2_000;

export type SweepResult = { outcome: 'complete'; summary: SweepSummary } | Held;

/**
 * @throws ChangefeedError CF_SWEEP_INCOMPLETE when a page could not be read (the checkpoint is kept, `cause` says why),
 *   CF_LEASE_LOST when another process took over, CF_SOURCE_CHANGED when the list has a baseline of another source,
 *   CF_STATE_LOST when the list's records are gone from Redis
 */
export async function sweepList(deps: SweepDeps, options: RunOptions): Promise<SweepResult> {
  const leased = await withLease(deps, options, async ({ token, signal }) => {
    try {
      return await walk(deps, { ...options, signal }, token);
    } finally {
      await options.shortcuts?.reader.end();
    }
  });
  return leased.outcome === 'held' ? leased : { outcome: 'complete', summary: leased.result };
}

async function walk(deps: SweepDeps, options: RunOptions, token: FencingToken): Promise<SweepSummary> {
  const { store, log, workspace } = deps;
  const { list } = options;
  let stored = await store.load(list);
  await checkSource(deps, options, stored);
  let start: WalkStart = { allowed: await allowedByPerson(store, list, stored.state.lastSweep), counts: noCounts() };
  for (;;) {
    const walked = await walkOnce(deps, options, { token, stored, start });
    if (walked.outcome === 'complete') {
      warnOfUnreadable(deps, options, { summary: walked.summary, lastSweep: stored.state.lastSweep });
      return walked.summary;
    }
    log.info({ workspace, list }, 'withheld new records are not too many: the list is read again');
    expectCommitted(list, await store.abandon(list, token));
    start = { allowed: walked.allowed, counts: countsOfNextWalk(walked.counts) };
    stored = await store.load(list);
  }
}

type Walked =
  | { outcome: 'complete'; summary: SweepSummary }
  /** New records were withheld. The list is read again, and `allowed` of them may pass. */
  | { outcome: 'walk again'; allowed: number; counts: SweepCounts };

async function walkOnce(
  deps: SweepDeps,
  options: RunOptions,
  { token, stored, start }: { token: FencingToken; stored: StoredSweep; start: WalkStart },
): Promise<Walked> {
  const { store, api, clock } = deps;
  const { list, signal, pagesAhead: most = PAGES_AHEAD } = options;
  const { checkpoint: started, visited } = await startWalk(deps, options, { token, stored, start });
  const shortcuts = await beginShortcuts(deps, options, { token, stored, started });
  const memory = await restoreMemory(store, list, started);
  // The last sweep read another source, so it says nothing about this one.
  const lastSweep = started.takesOver === true ? null : stored.state.lastSweep;
  const skips = mayBeSkipped({ checkpoint: started, lastSweep });
  const ahead = createReadAhead({
    fetch: ({ signal: dropped, knownDigest, ...wanted }) =>
      api.fetchIfChanged(list, {
        ...wanted,
        ...(skips && { knownDigest }),
        signal: signal === undefined ? dropped : AbortSignal.any([signal, dropped]),
      }),
    stored: (from, count) => store.pages(list, from, count),
    // No cursor of the last sweep is older than its start.
    usable: () => lastSweep !== null && clock.now() - Date.parse(lastSweep.startedAt) < CURSOR_LIFE_MS,
    most,
    commits: () => shortcuts.commits(),
    named: (cursor, askedAtMs) => shortcuts.named(cursor, askedAtMs),
    clock,
  });
  try {
    const walk = { token, stored, lastSweep, memory, visited, ahead, shortcuts, checkpoint: started };
    return await walkPages(shortcuts.watching(deps), options, walk);
  } finally {
    ahead.close();
    shortcuts.close();
  }
}

async function walkPages(
  deps: SweepDeps,
  options: RunOptions,
  { stored, checkpoint: started, ...walk }: Position & { stored: StoredSweep },
): Promise<Walked> {
  const { store, clock } = deps;
  const { list } = options;
  const { token, memory, lastSweep, visited, shortcuts } = walk;
  let checkpoint = started;
  let committedMs = clock.now();
  while (checkpoint.finishing !== true) {
    const page = checkpoint.pages + 1;
    const wanted = { page, cursor: checkpoint.cursor };
    const answer = walk.ahead.read(wanted);
    checkpoint = await shortcuts.during({ ...wanted, answer }, { ...walk, checkpoint, stored });
    const taken = await takePage(deps, options, { ...walk, checkpoint, answer });
    const { counts } = checkpoint;
    if (taken.outcome === 'walk again') return { ...taken, counts };
    const { changes, reached, nextCursor } = taken;
    checkpoint = {
      ...checkpoint,
      ...reached,
      pages: checkpoint.pages + 1,
      cursor: nextCursor,
      readAt: isoTime(clock.now()),
      firstPage: visited.firstPage,
    };
    if (nextCursor === null) checkpoint = { ...checkpoint, finishing: true };
    const held = checkpoint.creations?.held;
    const accepted = held === undefined ? 0 : await allowedByPerson(store, list, lastSweep);
    // A person accepted them during this sweep.
    if (accepted > (checkpoint.creations?.allowed ?? 0)) return { outcome: 'walk again', allowed: accepted, counts };
    const closed = { completedAt: isoTime(clock.now()), lastSweep };
    const summary = isFinished(checkpoint, memory, lastSweep) ? summarise(checkpoint, closed) : null;
    const isDue = checkpoint.finishing === true || clock.now() - committedMs >= UNCOMMITTED_MS;
    if (taken.outcome === 'classified' || isDue) {
      const reachedNow = { checkpoint: summary === null ? checkpoint : null, summary, cursors: visited.takeFollowed() };
      expectCommitted(list, await store.commit(list, { token, writes: [], ...reachedNow, ...changes }));
      committedMs = clock.now();
    }
    if (taken.outcome === 'classified') shortcuts.found(checkpoint.pages, eventsOf(taken.changes));
    report(deps, options, { reached: checkpoint, stored, ended: checkpoint.finishing === true });
    if (summary !== null) return { outcome: 'complete', summary };
    checkpoint = await releaseOrdinary(deps, options, { checkpoint, token, memory, lastSweep });
  }
  const summary = await finishSweep(deps, options, { checkpoint, token, lastSweep, tracked: memory.tracked });
  return { outcome: 'complete', summary };
}

/** Logs each record that cannot be read, once; the status shows them for as long as they last. */
function warnOfUnreadable(
  { workspace, log }: SweepDeps,
  { list }: SweepOptions,
  { summary, lastSweep }: { summary: SweepSummary; lastSweep: SweepSummary | null },
): void {
  const { unreadable = [], sweepId } = summary;
  const before = new Set(lastSweep?.unreadable?.map(({ id, reason }) => `${id ?? ''} ${reason}`));
  for (const { id, page, reason } of unreadable) {
    if (before.has(`${id ?? ''} ${reason}`)) continue;
    log.warn(
      { workspace, list, record: id, page, reason, sweepId },
      'record cannot be read and is left out as it was; correct it in the CRM',
    );
  }
}

/** Releases the quarantine as soon as no moving field can be drift any more. */
async function releaseOrdinary(
  deps: SweepDeps,
  options: SweepOptions,
  { memory, ...position }: Omit<Position, 'visited' | 'ahead' | 'shortcuts'>,
): Promise<Checkpoint> {
  const { checkpoint, lastSweep } = position;
  const { drift, finishing } = checkpoint;
  if (finishing === true || memory.quarantined.size === 0 || drift === undefined) return checkpoint;
  if (!noFieldCanDrift(drift, lastSweep?.counts.seen ?? 0)) return checkpoint;
  memory.quarantined.clear();
  return await releaseQuarantine(deps, options, {
    ...position,
    tracked: memory.tracked,
    checkpoint: { ...checkpoint, drift: withOrdinaryFields(drift) },
  });
}

function report(
  { workspace }: SweepDeps,
  options: SweepOptions,
  { reached, stored, ended }: { reached: Checkpoint; stored: StoredSweep; ended: boolean },
): void {
  options.onProgress?.({
    workspace,
    list: options.list,
    mode: reached.mode,
    pages: reached.pages,
    records: reached.counts.seen,
    expected: stored.state.lastSweep?.counts.seen ?? null,
    done: ended,
  });
}
