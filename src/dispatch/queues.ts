/** The subscriptions' BullMQ queues: the names and options that dispatcher, workers and dead letters share, and how queues are opened. */
import { Queue, type JobsOptions, type QueueOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { ChangefeedError, messageOf } from '../errors.js';
import { listOf } from '../events/envelope.js';
import type { Subscription } from '../handlers/handler.js';
import type { Log } from '../runtime/log.js';
import type { Connect, Delivery, Entry } from './ports.js';

export interface QueueKeys {
  subscriptionQueuePrefix(subscription: string): string;
}

/** How long dead letters are kept. Left out: until they are retried or dropped. */
export interface DeadLetterRetention {
  /** Older ones are dropped when the next dead letter comes; ms. */
  ageMs?: number;
  /** How many are kept, newest first. */
  events?: number;
}

/** BullMQ must not end the retries by its own count: our retry policy decides, and it may change while an event waits. */
const NEVER_EXHAUSTED = 1_000_000_000;
/** Wakes a waiting job if its promotion was lost with a crashed process. Normally the promotion comes long before. */
export const BEHIND_DELAY_MS = 15 * 60_000;
/**
 * Handled jobs that stay for inspection. The gate recognises a batch repeated after a crash. These jobs are a second
 * protection (BullMQ refuses a job id while its job is stored), so there are more of them than events in a batch.
 */
const KEPT_COMPLETED = 1_000;
const KEPT_ATTEMPTS = 20;
const EVENT_STREAM_LENGTH = 1_000;

export interface Queues {
  /** @throws ChangefeedError `CF_USAGE` when there is no such subscription */
  of(subscription: string): Queue<Delivery>;
  readonly all: ReadonlyMap<string, Queue<Delivery>>;
  /** Replaces the set of subscriptions. */
  apply(subscriptions: readonly Pick<Subscription, 'name'>[]): void;
  close(): Promise<void>;
}

export interface QueuesOptions {
  connect: Connect;
  keys: QueueKeys;
  subscriptions: readonly Pick<Subscription, 'name'>[];
  logger: Log;
}

/** All queues share one connection. Each is opened on first use. */
export function openQueues({ connect, keys, subscriptions, logger }: QueuesOptions): Queues {
  const redis = connect();
  const opened = new Map<string, Queue<Delivery>>();
  let names = subscriptions.map(({ name }) => name);
  const open = (name: string): Queue<Delivery> => {
    const known = opened.get(name);
    if (known !== undefined) return known;
    const queue = new Queue<Delivery>(name, queueOptions(name, { keys, redis }));
    queue.on('error', (error) => logger.warn({ subscription: name, error: messageOf(error) }, 'queue error'));
    opened.set(name, queue);
    return queue;
  };
  return {
    get all() {
      return new Map(names.map((name) => [name, open(name)]));
    },
    of(subscription) {
      if (names.includes(subscription)) return open(subscription);
      const known = names.map((name) => `"${name}"`).join(', ');
      throw new ChangefeedError('CF_USAGE', {
        message: `There is no subscription "${subscription}". Known: ${known === '' ? 'none' : known}.`,
      });
    },
    apply(now) {
      names = now.map(({ name }) => name);
    },
    async close() {
      await Promise.all([...opened.values()].map((queue) => queue.close()));
      redis.disconnect();
    },
  };
}

export function queueOptions(subscription: string, { keys, redis }: { keys: QueueKeys; redis: Redis }): QueueOptions {
  return {
    connection: redis,
    prefix: keys.subscriptionQueuePrefix(subscription),
    // Without a cap, BullMQ's stream of notices takes more memory than the deliveries.
    streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
  };
}

export function jobOptions(eventId: string, { standing }: { standing: 'head' | 'behind' }): JobsOptions {
  return {
    jobId: eventId,
    attempts: NEVER_EXHAUSTED,
    backoff: { type: 'subscription' },
    stackTraceLimit: KEPT_ATTEMPTS,
    ...(standing === 'behind' && { delay: BEHIND_DELAY_MS }),
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

/** The ordering group of an event: its record, or null when the subscription has no order. */
export function groupOf(
  { workspace, event }: Pick<Delivery, 'workspace' | 'event'>,
  { order, catalogue }: Subscription,
): string | null {
  // Escaped, so that the id of one record cannot spell the group of another.
  return order === 'none'
    ? null
    : `${workspace}/${listOf(event, catalogue) ?? '-'}/${encodeURIComponent(event.subject)}`;
}

export function entryOf(delivery: Delivery): Entry {
  const { workspace, logId, group } = delivery;
  return { workspace, logId, group, eventId: jobIdOf(delivery) };
}

/** A replayed event gets a job id of its own: BullMQ may still store the job of its first delivery. */
function jobIdOf({ event, replay, mergedUnder: entered = event.id }: Delivery): string {
  return replay === undefined ? entered : `${entered}.${replay}`;
}
