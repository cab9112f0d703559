/**
 * One complete sweep of one list: from the checkpoint (or the first page) along the cursors to the end, page by page.
 * Each page is judged, then committed with its events and the checkpoint in one step, so that a crash between any two
 * lines costs at most the asking of one page again. The only file of this room with effects; it must not know HTTP or Redis.
 */
import type { Page } from '../api/read-api.js';
import type { Trail } from '../api/trail.js';
import type { HeldCreations } from '../detect/creation.js';
import { isOrdinary, withoutOrdinary } from '../detect/drift.js';
import type { Staleness } from '../detect/habit.js';
import { MOST_FIELDS } from '../detect/schema.js';
import { ChangefeedError } from '../errors.js';
import type { ListName } from '../events/lists.js';
import { isoTime } from '../runtime/clock.js';
import { countsOfNextWalk, noCounts } from './counts.js';
import { departure, recollect, type WalkStart } from './departure.js';
import { allowedByPerson, guardOf } from './guard-creations.js';
import { incompleteSweep } from './incomplete.js';
import { judgePage, type JudgedPage } from './judge-page.js';
import type { SweepMemory } from './judging.js';
import { keepLease } from './lease-keeper.js';
import { observationOf } from './observation.js';
import type { SweepDeps, SweepOptions } from './options.js';
import { settleHeld } from './settle-held.js';
import { isSettled, settle, summarise } from './settle.js';
import { unfenced } from './settling.js';
import { checkSource } from './source.js';
import type { Checkpoint, FencingToken, StoredSweep, SweepCounts, SweepSummary } from './store.js';

/** A lease outlives this many ms of silence: long enough for a pause of the event loop, short enough to wait for. */
const LEASE_MS = 15_000;

export type { SweepDeps, SweepOptions, SweepProgress } from './options.js';

export type SweepResult =
  { outcome: 'complete'; summary: SweepSummary } | { outcome: 'held'; holder: FencingToken; expiresInMs: number };

/**
 * @throws ChangefeedError CF_SWEEP_INCOMPLETE when a page could not be had (the checkpoint is kept, `cause` says why),
 *   CF_LEASE_LOST when another process took over, CF_SOURCE_CHANGED when the list has a baseline of another source,
 *   CF_STATE_LOST when the list's records are gone from Redis
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
  const { store, log, workspace } = deps;
  const { list } = options;
  let stored = await store.load(list);
  await checkSource(deps, options, stored);
  let start: WalkStart = { allowed: await allowedByPerson(store, list, stored.state.lastSweep), counts: noCounts() };
  for (;;) {
    const walked = await walkOnce(deps, options, { token, stored, start });
    if (walked.outcome === 'complete') return walked.summary;
    log.info({ workspace, list }, 'many new records, and no flood: the list is walked again');
    unfenced(list, await store.abandon(list, token));
    start = { allowed: walked.allowed, counts: countsOfNextWalk(walked.counts) };
    stored = await store.load(list);
  }
}

type Walked =
  | { outcome: 'complete'; summary: SweepSummary }
  /** New records were withheld, and so many may pass in the next walk. */
  | { outcome: 'walk again'; allowed: number; counts: SweepCounts };

async function walkOnce(
  deps: SweepDeps,
  options: SweepOptions,
  { token, stored, start }: { token: FencingToken; stored: StoredSweep; start: WalkStart },
): Promise<Walked> {
  const { list } = options;
  const { checkpoint: departed, trail } = await departure(deps, list, { token, stored, start });
  const memory = await recollect(deps.store, list, departed);
  // What the last sweep of another source has left says nothing about this one.
  const lastSweep = departed.takesOver === true ? null : stored.state.lastSweep;
  let checkpoint = departed;
  while (checkpoint.finishing !== true) {
    const taken = await takePage(deps, options, { checkpoint, trail, token, memory, lastSweep });
    const { counts } = checkpoint;
    if (taken.outcome === 'walk again') return { ...taken, counts };
    const { changes, reached, nextCursor } = taken;
    checkpoint = {
      ...checkpoint,
      ...reached,
      pages: checkpoint.pages + 1,
      cursor: nextCursor,
      firstPage: trail.firstPage,
    };
    if (nextCursor === null) checkpoint = { ...checkpoint, finishing: true };
    const held = checkpoint.creations?.held;
    const accepted = held === undefined ? 0 : await allowedByPerson(deps.store, list, lastSweep);
    // Accepted while this sweep was under way.
    if (accepted > (checkpoint.creations?.allowed ?? 0)) return { outcome: 'walk again', allowed: accepted, counts };
    const closed = { completedAt: isoTime(deps.clock.now()), lastSweep };
    const summary = isSettled(checkpoint, memory, lastSweep) ? summarise(checkpoint, closed) : null;
    const commit = { token, checkpoint: summary === null ? checkpoint : null, summary, ...changes };
    unfenced(list, await deps.store.commitPage(list, commit));
    report(deps, options, { reached: checkpoint, stored, ended: checkpoint.finishing === true });
    if (held !== undefined && lastSweep?.heldCreations === undefined) warnOfHeld(deps, checkpoint, { list, held });
    if (summary !== null) return { outcome: 'complete', summary: withWarning(deps, options, { summary, lastSweep }) };
    checkpoint = await releaseOrdinary(deps, options, { checkpoint, token, memory, lastSweep });
  }
  const summary = await settle(deps, options, { checkpoint, token, lastSweep, tracked: memory.tracked });
  return { outcome: 'complete', summary: withWarning(deps, options, { summary, lastSweep }) };
}

/** Once per outbreak: the status goes on showing it. */
function warnOfHeld(
  { workspace, log }: SweepDeps,
  { sweepId }: Checkpoint,
  { list, held }: { list: ListName; held: HeldCreations },
): void {
  const { count, of, known, replaced } = held;
  const facts = { workspace, list, new: count, of, known, sweep: sweepId };
  if (replaced) {
    log.warn(
      facts,
      `creations held: only ${known.seen} of ${known.of} known records were seen; is this the token of another workspace, or was a backup restored?`,
    );
  } else log.warn(facts, 'creations held: too many records are new');
}

/** Once per silence: the status goes on showing it. */
function withWarning(
  { workspace, log }: SweepDeps,
  { list }: SweepOptions,
  { summary, lastSweep }: { summary: SweepSummary; lastSweep: SweepSummary | null },
): SweepSummary {
  const { staleness: silence, sweepId } = summary;
  if (silence !== undefined && silence.kind !== lastSweep?.staleness?.kind) {
    const facts = { workspace, list, since: silence.since, longestPauseMs: silence.longestPauseMs, sweep: sweepId };
    log.warn(facts, WARNINGS[silence.kind]);
  }
  return summary;
}

const WARNINGS = {
  unchanged: 'list silent far beyond its habit: is the token still allowed to see it?',
  empty: 'list shows no records any more: is the token still allowed to see it?',
} as const satisfies Record<Staleness['kind'], string>;

/** Records wait no longer than it takes to know that their fields are ordinary. */
async function releaseOrdinary(
  deps: SweepDeps,
  options: SweepOptions,
  { memory, ...position }: Omit<Position, 'trail'>,
): Promise<Checkpoint> {
  const { checkpoint, lastSweep } = position;
  const { drift, finishing: settling } = checkpoint;
  if (settling === true || memory.held.size === 0 || drift === undefined) return checkpoint;
  if (!isOrdinary(drift, lastSweep?.counts.seen ?? 0)) return checkpoint;
  memory.held.clear();
  return await settleHeld(deps, options, {
    ...position,
    tracked: memory.tracked,
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

type TakenPage =
  | (Extract<JudgedPage, { outcome: 'judged' }> & { nextCursor: string | null })
  | Extract<JudgedPage, { outcome: 'walk again' }>;

/** The next page and what it changes; whatever goes wrong with it ends the sweep as incomplete, nothing of it written. */
async function takePage(deps: SweepDeps, options: SweepOptions, position: Position): Promise<TakenPage> {
  const { checkpoint, trail, token } = position;
  const { list, signal } = options;
  const page = checkpoint.pages + 1;
  try {
    const { cursor } = checkpoint;
    const answer = await deps.api.fetchPage(list, { cursor, page, ...(signal === undefined ? {} : { signal }) });
    trail.check(answer, cursor);
    const judged = await judge(deps, options, position, answer);
    return judged.outcome === 'walk again' ? judged : { ...judged, nextCursor: answer.nextCursor };
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof ChangefeedError && ['CF_LEASE_LOST', 'CF_STATE_LOST'].includes(cause.code)) throw cause;
    const hopeless = isHopeless(cause, checkpoint.cursor);
    if (hopeless) unfenced(list, await deps.store.abandon(list, token));
    throw incompleteSweep({ workspace: deps.workspace, list, page, resumes: !hopeless, cause });
  }
}

/** A walk in a circle, or a cursor that the API no longer takes, cannot be resumed. */
function isHopeless(error: unknown, cursor: string | null): boolean {
  if (!(error instanceof ChangefeedError)) return false;
  return error.code === 'CF_CURSOR_LOOP' || (error.code === 'CF_REQUEST_REFUSED' && cursor !== null);
}

/** What the last part of a page changes. The parts before it are committed: see page-parts.ts. */
async function judge(deps: SweepDeps, options: SweepOptions, position: Position, page: Page): Promise<JudgedPage> {
  const { store, workspace, log } = deps;
  const { list, rules, baseline, images = true, recordsPerPart, signal } = options;
  const { token, memory, lastSweep } = position;
  let { checkpoint } = position;
  const { sweepId, mode, quiet } = checkpoint;
  const judging = judgePage(store, {
    records: page.records,
    checkpoint,
    memory,
    rules,
    images,
    baseline: mode !== 'baseline' ? null : quiet === true ? 'quiet' : baseline,
    past: lastSweep?.drifted ?? [],
    guard: mode === 'baseline' ? null : guardOf(options, lastSweep),
    ended: page.nextCursor === null,
    observation: observationOf(deps, options, { checkpoint, lastSweep }),
    recordsPerPart,
  });
  for (;;) {
    const { done, value } = await judging.next();
    if (memory.tracked.justFilled())
      log.warn({ workspace, list, tracked: MOST_FIELDS, sweep: sweepId }, TOO_MANY_FIELDS);
    if (done === true) return value;
    checkpoint = { ...checkpoint, ...value.reached };
    unfenced(list, await store.commitPage(list, { token, checkpoint, summary: null, ...value.changes }));
    signal?.throwIfAborted();
  }
}

const TOO_MANY_FIELDS =
  'more field names than the schema of a list tracks: further ones are compared, and left out of "changefeed schema" and of schema changes';

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
