/**
 * When lists are swept: one BullMQ job scheduler per list and workspace, so that however many pollers run, each tick
 * comes once. A tick that finds its list still being swept passes by; the lease decides, not the queue.
 */
import { Queue, Worker, type Job } from 'bullmq';
import type { Redis } from 'ioredis';
import { ChangefeedError, messageOf } from '../errors.js';
import { LIST_NAMES, type ListName } from '../events/lists.js';
import type { Log } from '../runtime/log.js';

const QUEUE = 'sweeps';

export interface PolledWorkspace {
  name: string;
  /** BullMQ's key prefix for this workspace's queue of sweeps. */
  queuePrefix: string;
  /** Lists to sweep, and how long from one start to the next. */
  lists: readonly { list: ListName; intervalMs: number }[];
}

export interface PollerDeps {
  workspaces: readonly PolledWorkspace[];
  /** Opens a connection made with `maxRetriesPerRequest: null`; the poller closes it. */
  connect: () => Redis;
  /** One sweep of one list; resolves when it is over or was found under way elsewhere. */
  sweep: (workspace: string, list: ListName, signal: AbortSignal) => Promise<void>;
  log: Log;
}

export interface Poller {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createPoller(deps: PollerDeps): Poller {
  const stopping = new AbortController();
  const open: { queue: Queue; worker: Worker }[] = [];
  let redis: Redis | undefined;
  return {
    async start() {
      redis = deps.connect();
      for (const workspace of deps.workspaces)
        open.push(await pollWorkspace({ ...deps, redis }, workspace, stopping.signal));
    },
    async stop() {
      stopping.abort(new Error('The poller is stopping.'));
      await Promise.all(open.map(({ worker }) => worker.close()));
      await Promise.all(open.map(({ queue }) => queue.close()));
      redis?.disconnect();
    },
  };
}

async function pollWorkspace(
  { redis, sweep, log }: PollerDeps & { redis: Redis },
  { name, queuePrefix, lists }: PolledWorkspace,
  signal: AbortSignal,
): Promise<{ queue: Queue; worker: Worker }> {
  const options = { connection: redis, prefix: queuePrefix };
  const queue = new Queue(QUEUE, { ...options, streams: { events: { maxLen: 100 } } });
  queue.on('error', (error) => log.warn({ workspace: name, error: messageOf(error) }, 'sweep queue: Redis trouble'));
  await schedule(queue, lists);
  const worker = new Worker(QUEUE, (job) => tick(job), { ...options, concurrency: LIST_NAMES.length });
  worker.on('error', (error) => log.warn({ workspace: name, error: messageOf(error) }, 'poller: Redis trouble'));
  return { queue, worker };

  async function tick({ name: list }: Job): Promise<void> {
    try {
      await sweep(name, list as ListName, signal);
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof ChangefeedError ? error.code : undefined;
      log.error({ workspace: name, list, code, error: messageOf(error) }, 'sweep incomplete');
      throw error;
    }
  }
}

/** Processes that sweep this workspace by its schedule, as far as Redis tells who is connected. */
export async function countPollers(connect: () => Redis, queuePrefix: string): Promise<number> {
  const redis = connect();
  const queue = new Queue(QUEUE, { connection: redis, prefix: queuePrefix, skipMetasUpdate: true });
  try {
    const workers = await queue.getWorkers();
    // Where Redis does not tell, BullMQ answers with one that has no address.
    return workers.filter(({ addr }) => addr !== undefined).length;
  } finally {
    await queue.close();
    redis.disconnect();
  }
}

async function schedule(queue: Queue, lists: PolledWorkspace['lists']): Promise<void> {
  const wanted = new Set<string>(lists.map(({ list }) => list));
  for (const { key } of await queue.getJobSchedulers()) {
    if (!wanted.has(key)) await queue.removeJobScheduler(key);
  }
  for (const { list, intervalMs } of lists) {
    const opts = { removeOnComplete: 10, removeOnFail: 10 };
    await queue.upsertJobScheduler(list, { every: intervalMs }, { name: list, opts });
  }
}
