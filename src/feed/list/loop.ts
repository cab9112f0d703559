/**
 * One loop per list: an answer is taken, what it changes is committed, and the list goes on from there. A page is committed with its
 * events and the checkpoint. After a crash, pages since the last commit are read again. An incomplete sweep decides nothing about
 * removals. This file must not know HTTP or Redis.
 */
import { withKey } from '../detect/rules.js';
import { checkSource } from './source.js';
import { firstVerdict } from './creations.js';
import { finishSweep } from './finish.js';
import { orIncomplete } from './incomplete.js';
import { withLease, type Leased, type LeaseTaken } from './lease.js';
import { FeedList, type ListDeps, type ListOptions } from './list.js';
import { pagesOfShortcuts, pagesOfWalk, type Answer } from './pages.js';
import { RowList } from './row-list.js';
import { beginSurvey, continueSurvey } from './survey.js';
import { take, type Taken } from './take.js';
import type { SweepSummary } from '../store/sweep-state.js';

export type SweepResult = { outcome: 'complete'; summary: SweepSummary } | LeaseTaken;

/**
 * One complete sweep.
 * @throws ChangefeedError CF_SWEEP_INCOMPLETE when a page could not be read (the checkpoint is kept), CF_LEASE_LOST when another process took over,
 *   CF_SOURCE_CHANGED when the list has a baseline of another source, CF_STATE_LOST when the list's records are gone from Redis
 */
export async function sweepList(deps: ListDeps, options: ListOptions): Promise<SweepResult> {
  const leased = await withLease(deps, options, async (lease) => {
    try {
      const list = await openList(deps, options, lease);
      await checkSource(list);
      await list.beginWalk(await firstVerdict(list));
      await readAll(list, pagesOfWalk(list));
      const summary = list.summary ?? (await finishSweep(list));
      warnOfUnreadable(list, summary);
      return summary;
    } finally {
      await options.shortcuts?.end();
    }
  });
  return leased.outcome === 'held' ? leased : { outcome: 'complete', summary: leased.result };
}

/**
 * Between two sweeps, the pages that are worth a request.
 * @param options.untilMs of the monotonic clock; the lease is released then, so that others get the list
 * @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST; the signal's reason
 */
export async function watchList(
  deps: ListDeps,
  options: ListOptions & { untilMs: number },
): Promise<{ outcome: 'done' } | LeaseTaken> {
  return await withLease(deps, options, async (lease) => {
    const list = await openList(deps, options, lease);
    await list.restoreMemory();
    await options.shortcuts?.begin(list.state, deps.clock.monotonic());
    try {
      await readAll(list, pagesOfShortcuts(list, options.untilMs));
    } finally {
      await options.shortcuts?.end();
    }
  });
}

export async function readAll(list: FeedList, pages: AsyncIterable<Answer>): Promise<void> {
  for await (const answer of pages) {
    const taken = answer.by === 'walk' ? await orIncomplete(list, () => take(list, answer)) : await take(list, answer);
    if (taken.step !== null) await list.commit(taken.step);
    await apply(list, answer, taken);
  }
}

export async function openList(deps: ListDeps, options: ListOptions, leased: Leased): Promise<FeedList> {
  const { store } = deps;
  const { list, rules: given } = options;
  // Both under the lease: an erasure ends it.
  const [stored, isErased] = await Promise.all([store.load(list), store.erased(list)]);
  const rules = given.masks === '' ? given : withKey(given, await store.secret());
  const List = rules.list.recognisedOnly ? RowList : FeedList;
  return new List(deps, { ...options, ...leased, rules }, stored, isErased);
}

/** Moves the list on by what was committed, and lets the planner learn from it. */
async function apply(list: FeedList, answer: Answer, taken: Taken): Promise<void> {
  const { step, checkpoint, shown, events, dropped: why, question } = taken;
  const { deps, options, survey } = list;
  const { shortcuts } = options;
  list.checkpoint = checkpoint;
  if (answer.by === 'shortcut') {
    const { shortcut, page, askedMs } = answer;
    const facts = { workspace: deps.workspace, list: list.name, page: shortcut.page, kind: shortcut.kind, why };
    if (why !== undefined) deps.log.debug(facts, 'shortcut dropped');
    if (shown !== null && shown.rewritten.length > 0) list.ahead.forget(shortcut.page);
    if (page === 'not sent') shortcuts?.abandon(shortcut);
    else await shortcuts?.done(shortcut, shown, { events, nowMs: askedMs });
    return;
  }
  if (question !== undefined) {
    beginSurvey(list, question);
    return;
  }
  if (survey !== null) {
    await continueSurvey(list, answer.nextCursor);
    return;
  }
  if (step !== null) list.committedMs = deps.clock.monotonic();
  list.summary = step?.summary ?? null;
  const { number, known, cursor } = answer;
  const isKept = known !== null && cursor !== null;
  const walked = { page: number, isKept, events, open: shown?.open ?? [] };
  const atEnds = shortcuts?.walked(walked, deps.clock.monotonic()) ?? 0;
  if (atEnds > 0) list.checkpoint = { ...checkpoint, byShortcuts: (checkpoint.byShortcuts ?? 0) + atEnds };
  options.onProgress?.({
    workspace: deps.workspace,
    list: list.name,
    mode: checkpoint.mode,
    pages: checkpoint.pages,
    records: checkpoint.counts.seen,
    expected: list.state.lastSweep?.counts.seen ?? null,
    done: checkpoint.finishing === true,
  });
}

/** Logs each record that cannot be read, once; the status shows them for as long as they last. */
function warnOfUnreadable({ deps, name, state: { lastSweep } }: FeedList, { unreadable = [], sweepId }: SweepSummary) {
  const { workspace, log } = deps;
  const before = new Set(lastSweep?.unreadable?.map(({ id, reason }) => `${id ?? ''} ${reason}`));
  for (const { id, page, reason } of unreadable) {
    if (before.has(`${id ?? ''} ${reason}`)) continue;
    const facts = { workspace, list: name, record: id, page, reason, sweepId };
    log.warn(facts, 'record cannot be read and is left out as it was; correct it in the CRM');
  }
}
