/**
 * Debounce (option `settle`): a change waits at the head of its group until its record is quiet; then the events
 * behind it are merged into it. The merge is stored before the handler is called, so every attempt has the same one.
 * The quiet time counts from when events were entered, not logged, so a backlog is merged as well. Both times are those
 * of Redis, so that the clocks of two processes make no difference. One in the future is of another server: it is unknown, and they wait no longer.
 */
import { objectOf } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';
import { isInFuture } from '../../kit/stored-time.js';
import { loadDelivery, isOfSnapshot, replayOf, type Delivery } from '../deliveries.js';
import { compileSelection } from '../../events/pattern.js';
import { noteEnd } from '../receipts/note.js';
import { isOpen, mergeChanges } from './merge-changes.js';
import type { GroupEntry } from '../groups/gate.js';
import { TakenOver } from './run.js';
import type { Outcome, Run, RunContext } from './run-state.js';

/** Bounds the size of a merged event for a record that changes all the time. Further events start the next merge. */
const MOST_MERGED = 500;

/** @throws TakenOver */
export async function settle(run: Run, context: RunContext): Promise<Run | Outcome> {
  const { subscription, gate, log } = context;
  const { claim, delivery, kind, job } = run;
  // An event that was attempted before `settle` was switched on stays the event it was.
  if (subscription.settle === undefined || kind === 'decided' || job.attemptsMade > 0) return run;
  const { stillMs, atMostMs } = subscription.settle;
  const standing = await gate.standing(subscription.name, claim, MOST_MERGED);
  if (standing.outcome === 'taken-over') throw new TakenOver();
  if (standing.outcome === 'left') return standing;
  const [head, ...behind] = standing.entries;
  // Without an order, nothing is merged.
  if (head === undefined) return run;
  if (!isOpen(delivery.event)) return await merge(run, head, [], context);
  const last = behind.at(-1) ?? head;
  const nowMs = await log.serverMs();
  const untilMs = Math.min(last.atMs + stillMs, head.atMs + atMostMs);
  const isKnown = ![head, last].some(({ atMs }) => isInFuture(atMs, nowMs));
  if (isKnown && nowMs < untilMs) return { outcome: 'waits', waitMs: untilMs - nowMs };
  // The events of a replay are not merged with live events or with another replay, and what a snapshot sends is delivered as such.
  const other = behind.findIndex(
    ({ id, kind }) => replayOf(id) !== replayOf(head.id) || isOfSnapshot(id) || kind === 'decided',
  );
  const followers = other === -1 ? behind : behind.slice(0, other);
  return await merge(run, head, await loadAll(followers, claim.workspace, context), context);
}

/** Up to the first that is gone. */
async function loadAll(entries: readonly GroupEntry[], workspace: string, context: RunContext): Promise<Delivery[]> {
  const all = await Promise.all(entries.map((entry) => loadDelivery(entry, workspace, context)));
  const end = all.indexOf(null);
  return all.slice(0, end === -1 ? all.length : end).filter((one) => one !== null);
}

async function merge(
  run: Run,
  head: GroupEntry,
  behind: readonly Delivery[],
  context: RunContext,
): Promise<Run | Outcome> {
  const { subscription, gate, surroundingsOf } = context;
  const { claim, delivery } = run;
  const all = [delivery, ...behind];
  const events: [ChangeEvent, ...ChangeEvent[]] = [delivery.event, ...behind.map(({ event }) => event)];
  const comparison = surroundingsOf(claim.workspace).comparisonOf(objectOf(delivery.event));
  const { taken, event } = mergeChanges(events, comparison);
  const merging = all.slice(0, taken);
  const isSelected = event === null || taken === 1 || compileSelection(subscription)(event);
  if (event === null || !isSelected) {
    const why = event === null ? 'cancelled-out' : 'not-selected';
    const noted = noteEnd(merging, { outcome: 'skipped', why }, context);
    const left = await gate.advance(subscription.name, claim, noted, taken);
    if (left.outcome === 'taken-over') throw new TakenOver();
    return left;
  }
  const into = { outcome: 'skipped', why: 'merged', into: event.id } as const;
  const merged = await gate.merge(subscription.name, claim, {
    count: taken - 1,
    head: { ...head, kind: 'decided', type: event.type },
    stored: { event },
    noted: taken === 1 ? undefined : noteEnd(merging, into, context),
  });
  if (merged.outcome === 'taken-over') throw new TakenOver();
  return merged.outcome === 'left' ? merged : { ...run, delivery: { ...delivery, event } };
}
