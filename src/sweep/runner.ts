/**
 * One complete sweep of one list: from the checkpoint (or the first page) along the cursors to the end, page by page.
 * Each page is judged, then committed with its events and the checkpoint in one step, so that a crash between any two
 * lines costs at most the asking of one page again. The only file of this room with effects; it must not know HTTP or Redis.
 */
import { createTrail, type Trail } from '../api/trail.js';
import type { Page, ReadApi } from '../api/read-api.js';
import type { Baseline } from '../detect/detect.js';
import type { Rules } from '../detect/rules.js';
import { ChangefeedError, messageOf } from '../errors.js';
import type { ListName } from '../events/lists.js';
import { isoTime, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { noCounts } from './counts.js';
import { judgePage, type Judgement } from './judge-page.js';
import { keepLease, leaseLost } from './lease-keeper.js';
import type { Checkpoint, FencingToken, StoredSweep, SweepStore, SweepSummary } from './store.js';

/** A lease outlives this many ms of silence: long enough for a pause of the event loop, short enough to wait for. */
const LEASE_MS = 15_000;

/** A checkpoint older than this is not resumed: its cursors may be dead, and its first half shows another day. */
const CHECKPOINT_LIFE_MS = 3_600_000;

export interface SweepDeps {
  workspace: string;
  api: ReadApi;
  store: SweepStore;
  clock: Clock;
  log: Log;
}

export interface SweepOptions {
  list: ListName;
  rules: Rules;
  /** What the first complete sweep says: nothing, or a snapshot event per record. */
  baseline: Baseline;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: SweepProgress) => void) | undefined;
}

export interface SweepProgress {
  workspace: string;
  list: ListName;
  mode: Checkpoint['mode'];
  pages: number;
  records: number;
  /** Records the last complete sweep saw: a guess at the end; null on the first. */
  expected: number | null;
  /** The end of the list was reached with this page. */
  done: boolean;
}

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
  for (let checkpoint = start; ;) {
    const { writes, counts, nextCursor } = await takePage(deps, options, { checkpoint, trail, token });
    const pages = checkpoint.pages + 1;
    const reached = { ...checkpoint, counts, pages, cursor: nextCursor, firstPage: trail.firstPage };
    const ended = nextCursor === null;
    const summary = ended ? summarise(reached, isoTime(deps.clock.now())) : null;
    const result = await deps.store.commitPage(list, { token, checkpoint: ended ? null : reached, summary, writes });
    if (result.outcome === 'fenced') throw leaseLost(list);
    report(deps, options, { reached, stored, ended });
    if (summary !== null) return summary;
    checkpoint = reached;
  }
}

/** Where the walk starts: where an interrupted one stood, if that is not too long ago. */
async function departure(
  { store, clock, log }: SweepDeps,
  list: ListName,
  token: FencingToken,
  { checkpoint, cursors, state }: StoredSweep,
): Promise<{ checkpoint: Checkpoint; trail: Trail }> {
  const now = clock.now();
  if (checkpoint !== null && now - Date.parse(checkpoint.startedAt) < CHECKPOINT_LIFE_MS) {
    log.info({ list, pages: checkpoint.pages, sweep: checkpoint.sweepId }, 'sweep resumed');
    return { checkpoint, trail: createTrail({ firstPage: checkpoint.firstPage, cursors }) };
  }
  if (checkpoint !== null) await store.abandon(list, token);
  const fresh: Checkpoint = {
    sweepId: `${list}-${token}-${now.toString(36)}`,
    startedAt: isoTime(now),
    mode: state.baselineAt === null ? 'baseline' : 'changes',
    cursor: null,
    pages: 0,
    counts: noCounts(),
    firstPage: null,
  };
  return { checkpoint: fresh, trail: createTrail({ firstPage: null, cursors: [] }) };
}

interface Position {
  checkpoint: Checkpoint;
  trail: Trail;
  token: FencingToken;
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
    return { nextCursor: answer.nextCursor, ...(await judge(deps, options, checkpoint, answer)) };
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    const hopeless = isHopeless(cause, checkpoint.cursor);
    if (hopeless) await deps.store.abandon(list, token);
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
  { rules, baseline }: SweepOptions,
  checkpoint: Checkpoint,
  page: Page,
): Promise<Judgement> {
  return await judgePage(store, {
    records: page.records,
    counts: checkpoint.counts,
    rules,
    baseline: checkpoint.mode === 'baseline' ? baseline : null,
    observation: { workspace, sweep: checkpoint.sweepId, observedAt: isoTime(clock.now()) },
  });
}

function summarise({ sweepId, startedAt, mode, pages, counts }: Checkpoint, completedAt: string): SweepSummary {
  return { sweepId, startedAt, completedAt, mode, pages, counts };
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
