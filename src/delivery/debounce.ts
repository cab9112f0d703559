/**
 * Debounce (option `settle`): a change waits at the head of its group until its record is quiet; then the events
 * behind it are merged into it. The merge is stored before the handler is called, so every attempt has the same one.
 * The quiet time counts from when events were entered, not logged, so a backlog is merged as well. Where a clock was
 * ahead then, it is unknown, and they wait no longer.
 */
import type { ChangeEvent } from '../events/types.js';
import type { Subscription } from './handlers/handler.js';
import type { Clock } from '../kit/clock.js';
import { isInFuture } from '../kit/stored-time.js';
import { replayOf, type Delivery } from './deliveries.js';
import { compileSelection } from '../events/pattern.js';
import { noteEnd, type Noting } from './receipts/note.js';
import { isOpen, mergeChanges, type ComparisonOf } from './merge-changes.js';
import type { AdvanceOutcome, Claim, GroupEntry, RecordGate } from './groups/gate.js';

/** Bounds the size of a merged event for a record that changes all the time. Further events start the next merge. */
const MOST_MERGED = 500;

export interface DebounceOptions extends Noting {
  claim: Claim;
  delivery: Delivery;
  subscription: Subscription;
  gate: RecordGate;
  clock: Clock;
  /** The events of entries, up to the first that is missing. */
  load: (entries: readonly GroupEntry[]) => Promise<Delivery[]>;
  comparisonOf?: ComparisonOf | undefined;
}

export type DebounceResult =
  | { outcome: 'go'; delivery: Delivery }
  /** The record has not been quiet for long enough. */
  | { outcome: 'wait'; untilMs: number }
  /** It has left, with what was behind it: the changes cancel each other out, or the merged event is not selected. */
  | AdvanceOutcome;

export async function debounce(
  { stillMs, atMostMs }: NonNullable<Subscription['settle']>,
  options: DebounceOptions,
): Promise<DebounceResult> {
  const { claim, delivery, subscription, gate, clock, load } = options;
  const standing = await gate.standing(subscription.name, claim, { count: MOST_MERGED });
  if (standing.outcome !== 'head') return standing;
  const [head, ...behind] = standing.entries;
  // Without an order, nothing is merged.
  if (head === undefined) return { outcome: 'go', delivery };
  if (!isOpen(delivery.event)) return merge(head, [], options);
  const last = behind.at(-1) ?? head;
  const nowMs = clock.now();
  const untilMs = Math.min(last.atMs + stillMs, head.atMs + atMostMs);
  const isKnown = ![head, last].some(({ atMs }) => isInFuture(atMs, nowMs));
  if (isKnown && nowMs < untilMs) return { outcome: 'wait', untilMs };
  // The events of a replay are not merged with live events or with another replay.
  const other = behind.findIndex(({ id, kind }) => replayOf(id) !== replayOf(head.id) || kind === 'decided');
  return merge(head, await load(other === -1 ? behind : behind.slice(0, other)), options);
}

async function merge(head: GroupEntry, behind: readonly Delivery[], options: DebounceOptions): Promise<DebounceResult> {
  const { claim, delivery, subscription, gate, comparisonOf } = options;
  const all = [delivery, ...behind];
  const events: [ChangeEvent, ...ChangeEvent[]] = [delivery.event, ...behind.map(({ event }) => event)];
  const { taken, event } = mergeChanges(events, comparisonOf);
  const isSelected = event === null || taken === 1 || compileSelection(subscription)(event);
  if (event === null || !isSelected) {
    const why = event === null ? 'cancelled-out' : 'not-selected';
    const noted = noteEnd(all.slice(0, taken), { outcome: 'skipped', why }, options);
    return gate.advance(subscription.name, claim, noted, taken);
  }
  const decided: GroupEntry = { ...head, kind: 'decided', type: event.type };
  const into = { outcome: 'skipped', why: 'merged', into: event.id } as const;
  const noted = taken === 1 ? undefined : noteEnd(all.slice(0, taken), into, options);
  const merged = await gate.merge(subscription.name, claim, {
    ...{ count: taken - 1, head: decided, stored: { event }, noted },
  });
  return merged.outcome === 'head' ? { outcome: 'go', delivery: { ...delivery, event } } : merged;
}
