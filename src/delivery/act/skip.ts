/**
 * Drops what waits for a subscription: what it has not read of the log, what is in its queue, planned retries, the rest of replays, and what
 * waits behind a dead letter that is held. The offset moves first, so that nothing is entered meanwhile that was logged before. A group then loses its
 * entries before its job is removed: a run of a job without an entry ends without calling the handler. After a crash, a repetition drops the rest.
 */
import { BEFORE_ALL, compareLogIds } from '../../events/log-id.js';
import { compileSelection, readsWorkspace } from '../../events/pattern.js';
import type { LoggedEvent } from '../../events/types.js';
import type { Dropped } from '../groups/gate.js';
import type { MustHaveJob } from '../groups/heads.js';
import { addJobs, deliveryIdOf, loggedAt, replayOf } from '../deliveries.js';
import { isReplayId, stopReplays } from './replay.js';
import { noteEnd } from '../receipts/note.js';
import type { SubscriptionContext } from '../stores.js';

/** What is dropped of what waits. */
export interface SkipCall {
  /** Only what waits of this workspace. @defaultValue all */
  workspace?: string | undefined;
  /** Only counts; nothing is dropped. @defaultValue false */
  dryRun?: boolean | undefined;
}

/** What was dropped. */
export interface Skipped {
  /** Events of the log that it had not read; those that it does not select are not counted. */
  unread: number;
  /** Deliveries that waited in its queue, for a retry, or behind another one of their record. */
  queued: number;
  /** Deliveries that are handled at this moment. They are not dropped. */
  running: number;
}

const CHUNK = 100;

export async function skipSubscription(
  { workspace, dryRun = false }: SkipCall,
  deps: SubscriptionContext,
): Promise<Skipped> {
  const sum: Skipped = { unread: 0, queued: 0, running: 0 };
  for (const name of deps.workspaces) {
    if ((workspace !== undefined && workspace !== name) || !readsWorkspace(deps.subscription, name)) continue;
    const last = await deps.log.tail(name);
    // Otherwise they go on to fill the queue.
    if (!dryRun) await stopReplays({ workspace: name }, deps);
    sum.unread += dryRun ? await countUnread(name, last, deps) : await skipUnread(name, last, deps);
    const { queued, running } = dryRun ? await countQueued(name, deps) : await skipQueued(name, { last }, deps);
    sum.queued += queued;
    sum.running += running;
  }
  return sum;
}

/** What a stop of replays has done. */
export interface StoppedReplays {
  /** How many were being sent, one for each workspace. */
  stopped: number;
  /** Deliveries of them that waited in the queue, and are dropped. One that is handled at this moment is not. */
  dropped: number;
}

/** @param id of one replay. @defaultValue all */
export async function stopAndDrop(id: string | undefined, deps: SubscriptionContext): Promise<StoppedReplays> {
  if (id !== undefined && !isReplayId(id)) return { stopped: 0, dropped: 0 };
  const stopped = await stopReplays({ id }, deps);
  let dropped = 0;
  for (const workspace of deps.workspaces)
    dropped += (await skipQueued(workspace, { last: END, replay: id ?? 'all' }, deps)).queued;
  return { stopped, dropped };
}

/** Later than any log id. */
const END = `${Number.MAX_SAFE_INTEGER}-0`;

/** Counted before the offset moves: afterwards the log may drop them. A reader may move it meanwhile. */
async function skipUnread(workspace: string, last: string, deps: SubscriptionContext): Promise<number> {
  const { subscription, offsets } = deps;
  for (;;) {
    const from = await offsets.get(workspace, subscription.name);
    if (from === null || last === BEFORE_ALL || compareLogIds(from, last) >= 0) return 0;
    const unread = await countUnread(workspace, last, deps);
    await offsets.advance(workspace, subscription.name, { from, to: last });
    if ((await offsets.get(workspace, subscription.name)) !== last) continue;
    for await (const events of unreadIn({ workspace, after: from, last }, deps))
      await noteDropped(workspace, events, deps);
    return unread;
  }
}

async function countUnread(workspace: string, last: string, deps: SubscriptionContext): Promise<number> {
  const after = await deps.offsets.get(workspace, deps.subscription.name);
  if (after === null || last === BEFORE_ALL) return 0;
  let unread = 0;
  for await (const events of unreadIn({ workspace, after, last }, deps)) unread += events.length;
  return unread;
}

async function* unreadIn(
  { workspace, after, last }: { workspace: string; after: string; last: string },
  { subscription, log }: SubscriptionContext,
): AsyncGenerator<LoggedEvent[]> {
  const selects = compileSelection(subscription);
  const range = { workspaces: [workspace], order: 'oldest', from: after, to: last, types: subscription.on } as const;
  for await (const entries of log.query(range))
    yield entries.map((entry) => entry.logged()).filter(({ event }) => selects(event));
}

/** After they were dropped: after a kill in between, nothing says what became of them. */
async function noteDropped(
  workspace: string,
  events: readonly (LoggedEvent & { id?: string })[],
  deps: SubscriptionContext,
): Promise<void> {
  const { subscription, receipts } = deps;
  const all = events.map(({ event, logId, id = deliveryIdOf(event.id, logId) }) => ({ id, workspace, logId, event }));
  const noted = noteEnd(all, { outcome: 'skipped', why: 'dropped' }, deps);
  if (noted === undefined || all.length === 0) return;
  await receipts.keep({ subscription: subscription.name, workspace }, noted);
}

/** What is no longer in the log, and has no copy of its own, is not noted. */
async function noteQueued(workspace: string, dropped: readonly Dropped[], deps: SubscriptionContext): Promise<void> {
  if (deps.subscription.receipts == null) return;
  const events = await Promise.all(
    dropped.map(async ({ id, stored }) => {
      const logId = loggedAt(id) ?? '0-0';
      if (stored !== null) return [{ event: stored.event, logId, id }];
      const logged = await deps.log.event(workspace, logId);
      return logged === null ? [] : [{ ...logged, id }];
    }),
  );
  await noteDropped(workspace, events.flat(), deps);
}

async function countQueued(workspace: string, { subscription, gate, queue }: SubscriptionContext) {
  const { events } = await gate.pending(subscription.name, workspace);
  const running = (await queue.getActive()).filter(({ data }) => data.workspace === workspace).length;
  return { queued: Math.max(0, events - running), running };
}

/** Where a subscription is busy, heads change all the time, most of them to events that were logged later. */
const MOST_PASSES = 20;

interface Which {
  /** A log id: what was logged up to it. */
  last: string;
  /** Only what this replay has sent, or all of them. @defaultValue also what no replay has sent */
  replay?: string;
}

function isReplayed(id: string, replay: string): boolean {
  const of = replayOf(id);
  return of !== undefined && (replay === 'all' || of === replay);
}

/** What is handled meanwhile changes the heads: it looks again until there is nothing left to drop. */
async function skipQueued(workspace: string, which: Which, deps: SubscriptionContext) {
  const { subscription, gate } = deps;
  for (let [pass, queued] = [1, 0]; ; pass += 1) {
    const heads = await gate.heads(subscription.name, [workspace]);
    const outcomes = [];
    for (let at = 0; at < heads.length; at += CHUNK)
      outcomes.push(...(await Promise.all(heads.slice(at, at + CHUNK).map((head) => skipGroup(head, which, deps)))));
    const dropped = outcomes.reduce((sum, one) => sum + one.dropped, 0);
    queued += dropped;
    const isOver = dropped === 0 && outcomes.every(({ word }) => word !== 'moved');
    if (isOver || pass === MOST_PASSES)
      return { queued, running: outcomes.filter(({ word }) => word === 'runs').length };
  }
}

async function skipGroup(head: MustHaveJob, { last, replay }: Which, deps: SubscriptionContext) {
  const { subscription, gate, queue } = deps;
  const { workspace, group, entry } = head;
  // Without an order, each is alone.
  const isOther = replay !== undefined && !isReplayed(entry.id, replay);
  if (group === null && (isOther || compareLogIds(entry.logId, last) > 0)) return { word: 'stays', dropped: 0 };
  const skipped = await gate.skip(subscription.name, head, last === BEFORE_ALL ? '0-0' : last, replay);
  if (skipped.outcome === 'moved') return { word: skipped.outcome, dropped: 0 };
  if (skipped.outcome === 'dropped') {
    await queue.remove(entry.id);
    if (skipped.next !== null) await addJobs(queue, [{ workspace, group, entry: skipped.next }]);
  }
  await noteQueued(workspace, skipped.dropped, deps);
  return { word: skipped.outcome, dropped: skipped.dropped.length };
}
