/** How deliveries lie in BullMQ: names and options that the dispatcher, the workers and the dead letters must share. */
import type { JobsOptions, QueueOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Subscription } from '../handlers/handler.js';
import { listOf } from '../events/envelope.js';
import type { Delivery, Entry } from './ports.js';

/** Where a subscription's queue stands: `Keys` fits. */
export interface QueueKeys {
  subscriptionQueuePrefix(subscription: string): string;
}

/** How long dead letters are kept. Left out: until somebody retries or drops them. */
export interface DeadLetterRetention {
  /** Older ones are dropped when the next dead letter comes; ms. */
  ageMs?: number;
  /** The newest so many are kept. */
  events?: number;
}

/** BullMQ decides about retries by counting; we decide ourselves (the policy may change while an event waits). */
const NEVER_EXHAUSTED = 1_000_000_000;
/** A worker told once a quarter of an hour is enough: it is there in case a promotion was lost with its process. */
export const PARKED_MS = 15 * 60_000;
/**
 * Handled jobs that stay to be looked at. Repeats of a batch after a crash are told by the gate, not by these; they are
 * the second net under it (a job id is only refused while its job is stored), so there are more than fit in a batch.
 */
const KEPT_COMPLETED = 1_000;
const KEPT_ATTEMPTS = 20;
const EVENT_STREAM_LENGTH = 1_000;

export function queueOptions(subscription: string, { keys, redis }: { keys: QueueKeys; redis: Redis }): QueueOptions {
  return {
    connection: redis,
    prefix: keys.subscriptionQueuePrefix(subscription),
    // Without a cap, the stream of BullMQ's own notices outgrows the deliveries.
    streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
  };
}

export function jobOptions(eventId: string, { parked }: { parked: boolean }): JobsOptions {
  return {
    jobId: eventId,
    attempts: NEVER_EXHAUSTED,
    backoff: { type: 'subscription' },
    stackTraceLimit: KEPT_ATTEMPTS,
    ...(parked ? { delay: PARKED_MS } : {}),
  };
}

export function keptJobs({ ageMs, events }: DeadLetterRetention): {
  removeOnComplete: { count: number };
  removeOnFail?: { age: number; count?: number } | { count: number };
} {
  const removeOnComplete = { count: KEPT_COMPLETED };
  if (ageMs !== undefined) {
    const age = Math.ceil(ageMs / 1_000);
    return { removeOnComplete, removeOnFail: events === undefined ? { age } : { age, count: events } };
  }
  return events === undefined ? { removeOnComplete } : { removeOnComplete, removeOnFail: { count: events } };
}

/** The lane of an event: its record, if the subscription keeps the order per record. */
export function groupOf(
  { workspace, event }: Pick<Delivery, 'workspace' | 'event'>,
  { order }: Subscription,
): string | null {
  // Escaped, so that no record's id can reach into another record's lane.
  return order === 'none' ? null : `${workspace}/${listOf(event) ?? '-'}/${encodeURIComponent(event.subject)}`;
}

export function entryOf(delivery: Delivery): Entry {
  const { workspace, logId, group: lane } = delivery;
  return { workspace, logId, group: lane, eventId: jobIdOf(delivery) };
}

/** Sent by a replay or a snapshot: its place in the lane is not that of the log. */
export function isBackfill({ replay, snapshot }: Delivery): boolean {
  return replay !== undefined || snapshot === true;
}

/** A replayed event is a job of its own beside the first one, which BullMQ may still know. */
export function jobIdOf({ event, replay, mergedUnder: entered = event.id }: Delivery): string {
  return replay === undefined ? entered : `${entered}.${replay}`;
}
