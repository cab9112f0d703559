/**
 * One complete sweep of one list. A page is committed with its events and the checkpoint; the checkpoint of
 * unchanged pages within two seconds. After a crash, pages since the last commit are read again. An incomplete sweep
 * decides nothing about removals. A survey is followed by a second walk. This file must not know HTTP or Redis.
 */
import { wholePage } from '../../api/read-api.js';
import type { Rules } from '../../detect/rules.js';
import type { SurveyQuestion } from '../../detect/survey.js';
import { isoTime } from '../../../kit/clock.js';
import { isYounger } from '../../../kit/stored-time.js';
import { countsOfNextWalk, noCounts } from '../counts.js';
import { expectCommitted } from '../errors.js';
import { finishSweep, isFinished, summarise } from './finish-sweep.js';
import { firstVerdict } from '../guards/guard-creations.js';
import { withLease, type Held } from '../lease-keeper.js';
import { restoreMemory } from '../memory.js';
import type { SweepDeps, SweepOptions } from '../options.js';
import { createReadAhead, type ReadAhead } from './read-ahead.js';
import { checkSource } from '../guards/source.js';
import { CURSOR_LIFE_MS, startWalk, type WalkStart } from './start-sweep.js';
import { eventsOf } from '../../../events/envelope.js';
import {
  NOT_RECOGNISED,
  type Checkpoint,
  type FencingToken,
  type StoredPage,
  type StoredSweep,
  type SweepSummary,
} from '../../store/sweep-state.js';
import { commitOfVerdict, surveyList, type Surveyed, type SurveyPosition } from '../guards/survey.js';
import { mayBeSkipped, takePage, type Position } from './take-page.js';
import { beginShortcuts, type RunOptions } from './walk-shortcuts.js';

export type { RunOptions } from './walk-shortcuts.js';

/** On one connection each, they hide the API's latency; more would only wait for the budget. */
const PAGES_AHEAD = 12;
/** How long unchanged pages may wait for a commit. After a crash they are read again. */
const UNCOMMITTED_MS = 2_000;

export type SweepResult = { outcome: 'complete'; summary: SweepSummary } | Held;

/**
 * @throws ChangefeedError CF_SWEEP_INCOMPLETE when a page could not be read (the checkpoint is kept), CF_LEASE_LOST when another process took over,
 *   CF_SOURCE_CHANGED when the list has a baseline of another source, CF_STATE_LOST when the list's records are gone from Redis
 */
export async function sweepList(deps: SweepDeps, options: RunOptions): Promise<SweepResult> {
  const leased = await withLease(deps, options, async ({ token, signal, epoch }) => {
    try {
      return await walk(deps, { ...options, signal, epoch }, token);
    } finally {
      await options.shortcuts?.end();
    }
  });
  return leased.outcome === 'held' ? leased : { outcome: 'complete', summary: leased.result };
}

async function walk(deps: SweepDeps, options: RunOptions, token: FencingToken): Promise<SweepSummary> {
  const { store, log, workspace } = deps;
  const { list } = options;
  let stored = await store.load(list);
  const { lastSweep } = stored.state;
  await checkSource(deps, options, stored);
  const before = firstVerdict(lastSweep, await store.decidedAt(list));
  let start: WalkStart = { verdict: before, counts: noCounts(), fresh: 0 };
  for (;;) {
    const walked = await walkOnce(deps, options, { token, stored, start });
    if (walked.outcome === 'complete') {
      warnOfUnreadable(deps, options, { summary: walked.summary, lastSweep });
      return walked.summary;
    }
    const { verdict, changes, checkpoint } = walked;
    const { sweepId } = checkpoint;
    const facts = { workspace, list, fields: changes.length, held: verdict.heldSince !== null, sweepId };
    log[changes.length > 0 ? 'warn' : 'info'](facts, changes.length > 0 ? 'schema changed' : 'survey complete');
    expectCommitted(list, await store.abandon(list, token));
    start = { verdict, counts: countsOfNextWalk(checkpoint.counts), fresh: checkpoint.fresh ?? 0 };
    const { checkpoint: next } = await startWalk(deps, options, { token, stored: await store.load(list), start });
    const commit = await commitOfVerdict(deps, options, { changes, checkpoint: next });
    expectCommitted(list, await store.commit(list, { token, ...commit }));
    stored = await store.load(list);
  }
}

/** `surveyed`: the list is read again from its first page with the verdict. */
type Walked = { outcome: 'complete'; summary: SweepSummary } | ({ outcome: 'surveyed' } & Surveyed);

async function walkOnce(
  deps: SweepDeps,
  options: RunOptions,
  { token, stored, start }: { token: FencingToken; stored: StoredSweep; start: WalkStart },
): Promise<Walked> {
  const { store } = deps;
  const { list } = options;
  const { checkpoint: started, visited } = await startWalk(deps, options, { token, stored, start });
  const shortcuts = await beginShortcuts(deps, options, stored);
  const memory = await restoreMemory(store, list, started);
  // The last sweep read another source, so it says nothing about this one.
  const lastSweep = started.takesOver === true ? null : stored.state.lastSweep;
  const skips = mayBeSkipped({ checkpoint: started, lastSweep });
  const ahead = readAheadOf(deps, options, { lastSweep, skips });
  try {
    const walk = { token, stored, lastSweep, memory, visited, ahead, shortcuts, checkpoint: started };
    return await walkPages(deps, options, walk);
  } finally {
    ahead.close();
    shortcuts.close();
  }
}

/** @param skips whether a page with the bytes that the last sweep read need not be parsed */
function readAheadOf(
  { store, api, clock }: SweepDeps,
  { list, rules, signal, pagesAhead: most = PAGES_AHEAD }: RunOptions,
  { lastSweep, skips }: Pick<Position, 'lastSweep'> & { skips: boolean },
): ReadAhead {
  return createReadAhead({
    fetch: ({ signal: dropped, knownDigest, ...wanted }) =>
      api.fetchIfChanged(list, {
        ...wanted,
        ...(skips && { knownDigest }),
        signal: signal === undefined ? dropped : AbortSignal.any([signal, dropped]),
      }),
    stored: async (from, count) => (await store.pages(list, from, count)).map((page) => underRules(page, rules)),
    // No cursor of the last sweep is older than its start.
    usable: () => isYounger(lastSweep?.startedAt, clock.now(), CURSOR_LIFE_MS),
    most,
    clock,
  });
}

/** A page whose records were stored under other rules is not recognised: digests of their contents are made again. */
function underRules(page: StoredPage | null, { images, tag }: Rules): StoredPage | null {
  return page === null || page.rules === (images ? undefined : tag) ? page : { ...page, digest: NOT_RECOGNISED };
}

type Walk = Position & { stored: StoredSweep };

async function walkPages(
  deps: SweepDeps,
  options: RunOptions,
  { stored, checkpoint: started, ...walk }: Walk,
): Promise<Walked> {
  const { store, clock } = deps;
  const { list } = options;
  const { token, memory, lastSweep, visited, shortcuts } = walk;
  let checkpoint = started;
  let committedMs = clock.monotonic();
  while (checkpoint.finishing !== true) {
    const answer = walk.ahead.read({ page: checkpoint.pages + 1, cursor: checkpoint.cursor });
    checkpoint = await shortcuts.during(answer, { ...walk, checkpoint, stored });
    const taken = await takePage(deps, options, { ...walk, checkpoint, answer });
    if (taken.outcome === 'survey') return await survey(deps, options, { ...walk, checkpoint, stored }, taken.question);
    const { changes, reached, nextCursor } = taken;
    checkpoint = {
      ...checkpoint,
      ...reached,
      pages: checkpoint.pages + 1,
      longestPage: Math.max(checkpoint.longestPage ?? 0, taken.length),
      cursor: nextCursor,
      readAt: isoTime(clock.now()),
      firstPage: visited.firstPage,
    };
    if (nextCursor === null) checkpoint = { ...checkpoint, finishing: true };
    const closed = { completedAt: isoTime(clock.now()), lastSweep, held: [], rules: options.rules };
    const summary = isFinished(checkpoint, memory, lastSweep) ? summarise(checkpoint, closed) : null;
    const isDue = checkpoint.finishing === true || clock.monotonic() - committedMs >= UNCOMMITTED_MS;
    if (taken.outcome === 'classified' || isDue) {
      const reachedNow = { checkpoint: summary === null ? checkpoint : null, summary, cursors: visited.takeFollowed() };
      expectCommitted(list, await store.commit(list, { token, ...reachedNow, ...changes }));
      committedMs = clock.monotonic();
    }
    const { isKept, open } = taken;
    const atEnds = shortcuts.found({ page: checkpoint.pages, isKept, open, events: eventsOf(taken.changes) });
    if (atEnds > 0) checkpoint = { ...checkpoint, byShortcuts: (checkpoint.byShortcuts ?? 0) + atEnds };
    report(deps, options, { reached: checkpoint, stored, ended: checkpoint.finishing === true });
    if (summary !== null) return { outcome: 'complete', summary };
  }
  const summary = await finishSweep(deps, options, { checkpoint, token, lastSweep, tracked: memory.tracked });
  return { outcome: 'complete', summary };
}

async function survey(
  deps: SweepDeps,
  options: RunOptions,
  { checkpoint, ...walk }: Walk,
  question: SurveyQuestion,
): Promise<Walked> {
  walk.ahead.close();
  const { lastSweep, shortcuts, memory } = walk;
  // A survey knows no digests, so every page is answered in full.
  const ahead = readAheadOf(deps, options, { lastSweep, skips: false });
  const read: SurveyPosition['read'] = async (wanted, reached) => {
    const answer = ahead.read(wanted).then(({ fetched }) => wholePage(fetched));
    return { answer, checkpoint: await shortcuts.during(answer, { ...walk, ahead, checkpoint: reached }) };
  };
  try {
    const surveyed = await surveyList(deps, options, { question, checkpoint, lastSweep, memory, read });
    return { outcome: 'surveyed', ...surveyed };
  } finally {
    ahead.close();
  }
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
