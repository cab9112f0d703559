/**
 * One complete sweep of one list: from the checkpoint (or the first page) along the cursors to the end, page by page.
 * Each page is judged, then committed with its events and the checkpoint in one step, so that a crash between any two
 * lines costs at most the asking of one page again. The only file of this room with effects; it must not know HTTP or Redis.
 */
import type { Page } from '../api/read-api.js';
import type { Trail } from '../api/trail.js';
import { isOrdinary, withoutOrdinary } from '../detect/drift.js';
import type { Silence } from '../detect/habit.js';
import { ChangefeedError, messageOf } from '../errors.js';
import { isoTime } from '../runtime/clock.js';
import { departure, recollect } from './departure.js';
import { judgePage, type Judgement } from './judge-page.js';
import type { SweepMemory } from './judging.js';
import { keepLease } from './lease-keeper.js';
import type { SweepDeps, SweepOptions } from './options.js';
import { settleHeld } from './settle-held.js';
import { isSettled, settle, summarise } from './settle.js';
import { unfenced } from './settling.js';
import type { Checkpoint, FencingToken, StoredSweep, SweepSummary } from './store.js';

/** A lease outlives this many ms of silence: long enough for a pause of the event loop, short enough to wait for. */
const LEASE_MS = 15_000;

export type { SweepDeps, SweepOptions, SweepProgress } from './options.js';

export type SweepResult =
  { outcome: 'complete'; summary: SweepSummary } | { outcome: 'held'; holder: FencingToken; expiresInMs: number };

/**
 * @throws ChangefeedError CF_SWEEP_INCOMPLETE when a page could not be had (the checkpoint is kept, `cause` says why),
 *   CF_LEASE_LOST when another process took over
 */
export async function sweepList(deps: SweepDeps, options: SweepOptions): Promise<SweepResult> {
  const { store, clock } = deps;
  const { list } = options;
  const lease = await store.acquire(list, LEASE_MS);
  if (lease.outcome === 'held') return lease;
  const keeper = keepLease({ store, list, token: lease.token, ttlMs: LEASE_MS, clock });
  const signal = options.signal === undefined ? keeper.signal : AbortSignal.any([keeper.signal, options.signal]);
  try {
    const summary = await walk(deps, { ...options, signal }, lease.token);
    return { outcome: 'complete', summary };
  } finally {
    await keeper.stop();
    await store.release(list, lease.token);
  }
}

async function walk(deps: SweepDeps, options: SweepOptions, token: FencingToken): Promise<SweepSummary> {
  const { list } = options;
  const stored = await deps.store.load(list);
  const { checkpoint: start, trail } = await departure(deps, list, token, stored);
  const memory = await recollect(deps.store, list, start);
  const { lastSweep } = stored.state;
  let checkpoint = start;
  while (checkpoint.settling !== true) {
    const { changes, reached, nextCursor } = await takePage(deps, options, {
      checkpoint,
      trail,
      token,
      memory,
      lastSweep,
    });
    checkpoint = {
      ...checkpoint,
      ...reached,
      pages: checkpoint.pages + 1,
      cursor: nextCursor,
      firstPage: trail.firstPage,
    };
    if (nextCursor === null) checkpoint = { ...checkpoint, settling: true };
    const closed = { completedAt: isoTime(deps.clock.now()), lastSweep };
    const summary = isSettled(checkpoint, memory, lastSweep) ? summarise(checkpoint, closed) : null;
    const commit = { token, checkpoint: summary === null ? checkpoint : null, summary, ...changes };
    unfenced(list, await deps.store.commitPage(list, commit));
    report(deps, options, { reached: checkpoint, stored, ended: checkpoint.settling === true });
    if (summary !== null) return withWarning(deps, options, { summary, lastSweep });
    checkpoint = await releaseOrdinary(deps, options, { checkpoint, token, memory, lastSweep });
  }
  const summary = await settle(deps, options, { checkpoint, token, lastSweep });
  return withWarning(deps, options, { summary, lastSweep });
}

/** Once per silence: the status goes on showing it. */
function withWarning(
  { workspace, log }: SweepDeps,
  { list }: SweepOptions,
  { summary, lastSweep }: { summary: SweepSummary; lastSweep: SweepSummary | null },
): SweepSummary {
  const { silence, sweepId } = summary;
  if (silence !== undefined && silence.kind !== lastSweep?.silence?.kind) {
    const facts = { workspace, list, since: silence.since, longestPauseMs: silence.longestPauseMs, sweep: sweepId };
    log.warn(facts, WARNINGS[silence.kind]);
  }
  return summary;
}

const WARNINGS = {
  unchanged: 'list silent far beyond its habit: is the token still allowed to see it?',
  empty: 'list shows no records any more: is the token still allowed to see it?',
} as const satisfies Record<Silence['kind'], string>;

/** Records wait no longer than it takes to know that their fields are ordinary. */
async function releaseOrdinary(
  deps: SweepDeps,
  options: SweepOptions,
  { memory, ...position }: Omit<Position, 'trail'>,
): Promise<Checkpoint> {
  const { checkpoint, lastSweep } = position;
  const { drift, settling } = checkpoint;
  if (settling === true || memory.held.size === 0 || drift === undefined) return checkpoint;
  if (!isOrdinary(drift, lastSweep?.counts.seen ?? 0)) return checkpoint;
  memory.held.clear();
  return await settleHeld(deps, options, {
    ...position,
    checkpoint: { ...checkpoint, drift: withoutOrdinary(drift) },
  });
}

interface Position {
  checkpoint: Checkpoint;
  trail: Trail;
  token: FencingToken;
  memory: SweepMemory;
  lastSweep: SweepSummary | null;
}

interface JudgedPage extends Judgement {
  nextCursor: string | null;
}

/** The next page and what it changes; whatever goes wrong with it ends the sweep as incomplete, nothing of it written. */
async function takePage(deps: SweepDeps, options: SweepOptions, position: Position): Promise<JudgedPage> {
  const { checkpoint, trail, token } = position;
  const { list, signal } = options;
  const page = checkpoint.pages + 1;
  try {
    const { cursor } = checkpoint;
    const answer = await deps.api.fetchPage(list, { cursor, page, ...(signal === undefined ? {} : { signal }) });
    trail.check(answer, cursor);
    return { nextCursor: answer.nextCursor, ...(await judge(deps, options, position, answer)) };
  } catch (cause) {
    signal?.throwIfAborted();
    const hopeless = isHopeless(cause, checkpoint.cursor);
    if (hopeless) unfenced(list, await deps.store.abandon(list, token));
    const kept = hopeless ? 'the next sweep starts at the first page' : 'the next sweep resumes there';
    throw new ChangefeedError('CF_SWEEP_INCOMPLETE', {
      list,
      page,
      cause,
      resumes: !hopeless,
      message: `Workspace "${deps.workspace}", list "${list}": the sweep stopped at page ${page}; what came before is kept and ${kept}. ${messageOf(cause)}`,
    });
  }
}

/** A walk in a circle, or a cursor that the API no longer takes, cannot be resumed. */
function isHopeless(error: unknown, cursor: string | null): boolean {
  if (!(error instanceof ChangefeedError)) return false;
  return error.code === 'CF_CURSOR_LOOP' || (error.code === 'CF_REQUEST_REFUSED' && cursor !== null);
}

async function judge(
  { store, workspace, clock }: SweepDeps,
  { rules, baseline, images = true }: SweepOptions,
  { checkpoint, memory, lastSweep }: Position,
  page: Page,
): Promise<Judgement> {
  const { sweepId, mode } = checkpoint;
  const previousSweep = lastSweep?.sweepId ?? null;
  return await judgePage(store, {
    records: page.records,
    checkpoint,
    memory,
    rules,
    images,
    baseline: mode === 'baseline' ? baseline : null,
    past: lastSweep?.drifted ?? [],
    observation: { workspace, sweep: sweepId, previousSweep, observedAt: isoTime(clock.now()) },
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
