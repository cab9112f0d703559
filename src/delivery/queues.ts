/** The subscriptions' BullMQ queues: the names and options that dispatcher, workers and dead letters share. */
import { Queue, RateLimitError, type Job, type JobType, type MinimalQueue, type QueueOptions } from 'bullmq';
import { messageOf, usage } from '../kit/errors.js';
import type { FailedAttempt } from './failure.js';
import type { Redis } from '../redis/client.js';
import type { Log } from '../kit/log.js';
import { Tally } from '../kit/tally.js';
import type { GroupEntry, StoredEvent } from './groups/gate.js';

/** For BullMQ or a blocking read: `maxRetriesPerRequest: null` survives a restart of Redis. The caller closes it. */
export type Connect = () => Redis;

export interface JobData {
  workspace: string;
  /** Null: its subscription has no order. */
  group: string | null;
  logId: string;
  kind: GroupEntry['kind'];
  /** When the delivery was entered, ms; 0 or absent: not known. Of a digest or report, its moment. */
  atMs?: number;
  /** Of a digest or report: crashes of its process that were counted as failures. */
  crashes?: number;
  /** The job is a dead letter, or is about to become one. It carries its event: the log may drop it. */
  death?: StoredEvent & { failure: FailedAttempt };
}

export interface QueueKeys {
  subscriptionQueuePrefix(subscription: string): string;
}

/** How long dead letters are kept. Left out: until they are retried or dropped. */
export interface DeadLetterRetention {
  /** Older ones are dropped when the next dead letter comes; ms. */
  ageMs: number;
  /** How many are kept, newest first; null: all. */
  count: number | null;
}

/** Without an order, more than a batch: BullMQ refuses ids of stored jobs, so a repeated batch is known. Each takes some 1.1 kB. */
const KEPT_COMPLETED = { ordered: 100, unordered: 2_000 };
const EVENT_STREAM_LENGTH = 1_000;

export type Queues = ReturnType<typeof openQueues>;

export interface QueuesOptions {
  connect: Connect;
  keys: QueueKeys;
  /** Rules come and go in it. */
  subscriptions: readonly { name: string }[];
  logger: Log;
}

/** All queues share one connection. Each is opened on first use. */
export function openQueues({ connect, keys, subscriptions, logger }: QueuesOptions) {
  const redis = connect();
  const opened = new Map<string, Queue<JobData>>();
  const configured = (): string[] => subscriptions.map(({ name }) => name);
  const open = (name: string): Queue<JobData> => {
    const existing = opened.get(name);
    if (existing !== undefined) return existing;
    const queue = new Queue<JobData>(name, queueOptions(name, { keys, redis }));
    const errors = new Tally((facts) => logger.warn({ subscription: name, ...facts }, 'queue error'));
    queue.on('error', (error) => errors.add({ error: messageOf(error) }, causeOf(error)));
    opened.set(name, queue);
    return queue;
  };
  return {
    get all(): ReadonlyMap<string, Queue<JobData>> {
      return new Map(configured().map((name) => [name, open(name)]));
    },
    /** @throws ChangefeedError `CF_USAGE` when there is no such subscription */
    of(subscription: string): Queue<JobData> {
      const names = configured();
      if (names.includes(subscription)) return open(subscription);
      const known = names.map((name) => `"${name}"`).join(', ');
      throw usage(`There is no subscription "${subscription}". Known: ${known === '' ? 'none' : known}.`);
    },
    /** The queue of a subscription that the configuration had once. */
    former: open,
    async close(): Promise<void> {
      await Promise.all([...opened.values()].map((queue) => queue.close()));
      redis.disconnect();
    },
  };
}

/** Messages of BullMQ name jobs. */
export function causeOf(error: Error): string {
  return messageOf(error).replace(/\S*\d\S*/g, '…');
}

export function queueOptions(subscription: string, { keys, redis }: { keys: QueueKeys; redis: Redis }): QueueOptions {
  return {
    connection: redis,
    prefix: keys.subscriptionQueuePrefix(subscription),
    // Without a cap, BullMQ's stream of notices takes more memory than the deliveries.
    streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
  };
}

/** Of one command: one for a million ids would block Redis for a quarter of a second. */
const IDS_AT_ONCE = 5_000;

/** The ids of all jobs in these states, the newest first. Jobs that come or go meanwhile may be missing. */
export async function jobIdsIn(queue: Queue<JobData>, states: readonly JobType[]): Promise<string[]> {
  const found = new Set<string>();
  for (const state of states) {
    let last = IDS_AT_ONCE;
    for (let from = 0; last === IDS_AT_ONCE; from += last) {
      const ids = await queue.getRanges([state], from, from + IDS_AT_ONCE - 1);
      for (const id of ids) found.add(id);
      last = ids.length;
    }
  }
  return [...found];
}

const JOBS_AT_ONCE = 100;

export type StoredJob = Job<JobData> & { id: string };

/** The jobs with these ids that are there. */
export async function jobsWith(queue: Queue<JobData>, ids: readonly string[]): Promise<StoredJob[]> {
  const found: StoredJob[] = [];
  for (let at = 0; at < ids.length; at += JOBS_AT_ONCE)
    for (const job of await Promise.all(ids.slice(at, at + JOBS_AT_ONCE).map((id) => queue.getJob(id))))
      if (job !== undefined) found.push(job as StoredJob);
  return found;
}

/** A subscription's queue: BullMQ's `Queue` and `Worker` both have its API, and the worker's saves a connection. */
export type QueueHandle = Pick<Queue<JobData>, 'getBackend'> & MinimalQueue;

export function keptJobs(isOrdered: boolean, dead?: DeadLetterRetention) {
  const removeOnComplete = { count: isOrdered ? KEPT_COMPLETED.ordered : KEPT_COMPLETED.unordered };
  if (dead === undefined) return { removeOnComplete };
  const { ageMs, count } = dead;
  return { removeOnComplete, removeOnFail: { age: Math.ceil(ageMs / 1_000), ...(count !== null && { count }) } };
}

/** No worker of the queue takes a job for so long. @throws what returns the job of the run to the front of the queue */
export async function restQueue(queue: QueueHandle, ms: number): Promise<never> {
  await queue.getBackend().setRateLimit(ms);
  throw new RateLimitError();
}

/** BullMQ looks for such a rest only where the worker has a limit of its own. This one is never reached. */
export const MAY_REST = { limiter: { max: Number.MAX_SAFE_INTEGER, duration: 1_000 } };
