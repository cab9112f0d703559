/** The subscriptions' BullMQ queues: the names and options that dispatcher, workers and dead letters share, and how queues are opened. */
import { Job, Queue, type JobsOptions, type MinimalQueue, type QueueOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { ChangefeedError, messageOf } from '../errors.js';
import { listOf } from '../events/envelope.js';
import type { ChangeEvent } from '../events/types.js';
import type { Subscription } from '../handlers/handler.js';
import type { Log } from '../runtime/log.js';
import type { Connect, GroupEntry, JobData } from './ports.js';

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
/**
 * Handled jobs that stay for inspection. BullMQ refuses a job id while its job is stored, so with `order: 'none'` they also prevent that a
 * batch repeated after a crash runs again: there are more of them than events in a batch.
 */
const KEPT_COMPLETED = 2_000;
const KEPT_ATTEMPTS = 20;
const EVENT_STREAM_LENGTH = 1_000;

export interface Queues {
  /** @throws ChangefeedError `CF_USAGE` when there is no such subscription */
  of(subscription: string): Queue<JobData>;
  readonly all: ReadonlyMap<string, Queue<JobData>>;
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
  const opened = new Map<string, Queue<JobData>>();
  let names = subscriptions.map(({ name }) => name);
  const open = (name: string): Queue<JobData> => {
    const known = opened.get(name);
    if (known !== undefined) return known;
    const queue = new Queue<JobData>(name, queueOptions(name, { keys, redis }));
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

const JOB_OPTIONS: JobsOptions = {
  attempts: NEVER_EXHAUSTED,
  backoff: { type: 'subscription' },
  stackTraceLimit: KEPT_ATTEMPTS,
};

/** The head of an ordering group, or an event without an order. */
export interface HeadJob extends Pick<JobData, 'workspace' | 'group' | 'batchFailure'> {
  entry: GroupEntry;
}

/** A subscription's queue: BullMQ's `Queue` and `Worker` both have its API, and the worker's saves a connection. */
export type QueueHandle = Pick<Queue<JobData>, 'getBackend'> & MinimalQueue;

/** Adds the jobs of heads. BullMQ ignores a job that it has already. */
export async function addJobs(queue: MinimalQueue, heads: readonly HeadJob[]): Promise<void> {
  if (heads.length === 0) return;
  const jobs = heads.map(({ entry: { id, logId, kind, type }, ...rest }) => {
    const data: JobData = { logId, kind, ...rest };
    return { name: type, data, opts: { ...JOB_OPTIONS, jobId: id } };
  });
  const [only, ...more] = jobs;
  // A pipeline for one job takes twice the processor time of the job.
  if (only !== undefined && more.length === 0) await Job.create(queue, only.name, only.data, only.opts);
  else await resending(() => Job.createBulk(queue, jobs));
}

/** The client resends commands after a lost connection, but aborts a pipeline of which it has got some replies. */
async function resending(send: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await send();
      return;
    } catch (error) {
      if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    }
  }
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
export function groupOf(workspace: string, event: ChangeEvent, { order, catalogue }: Subscription): string | null {
  // Escaped, so that the id of one record cannot spell the group of another. Half a surrogate pair cannot be escaped.
  return order === 'none'
    ? null
    : `${workspace}/${listOf(event, catalogue) ?? '-'}/${encodeURIComponent(event.subject.replace(/\p{Surrogate}/gu, '\ufffd'))}`;
}
