/** Adds jobs to one queue of somebody else's, over a connection of its own. Knows nothing of events. */
import { Queue, type JobsOptions } from 'bullmq';
import { Redis } from 'ioredis';

export interface ProducerOptions {
  url: string;
  queue: string;
  prefix: string;
  /** For connecting and for each command, in ms. */
  timeoutMs: number;
}

export interface Producer {
  /** @throws what went wrong with the connection, or Redis's own error */
  add(name: string, data: unknown, options: JobsOptions): Promise<void>;
  close(): Promise<void>;
}

interface Seen {
  /** What the connection last said of itself. */
  error?: Error;
}

interface Open {
  redis: Redis;
  queue: Queue;
}

const LONGEST_PAUSE_MS = 2_000;

/** Opens at the first job, so that a command that only looks at the configuration connects to nobody. */
export function createProducer(options: ProducerOptions): Producer {
  let opening: Promise<Open> | undefined;
  const seen: Seen = {};

  async function open(): Promise<Open> {
    const redis = new Redis(options.url, {
      lazyConnect: true,
      connectTimeout: options.timeoutMs,
      commandTimeout: options.timeoutMs,
      // A try fails while Redis is away, and the subscription waits; commands that pile up would all outlive their tries.
      maxRetriesPerRequest: 1,
      retryStrategy: (times) => Math.min(times * 100, LONGEST_PAUSE_MS),
    });
    redis.on('error', (error: Error) => (seen.error = error)).on('ready', () => delete seen.error);
    try {
      await redis.connect();
    } catch (error) {
      redis.disconnect();
      throw error;
    }
    // The queue is its owner's: what is set in it stays as it is.
    const queue = new Queue(options.queue, { connection: redis, prefix: options.prefix, skipMetasUpdate: true });
    queue.on('error', () => undefined);
    return { redis, queue };
  }

  async function opened(): Promise<Open> {
    opening ??= open();
    try {
      return await opening;
    } catch (error) {
      opening = undefined;
      throw error;
    }
  }

  return {
    async add(name, data, job) {
      try {
        const { queue } = await opened();
        await queue.add(name, data, job);
      } catch (error) {
        // The client says that it gave up; why, it has said before.
        throw isGivingUp(error) ? reasonOf(seen, error) : error;
      }
    },
    async close() {
      const closing = opening;
      opening = undefined;
      const open = await closing?.catch(() => undefined);
      await open?.queue.close();
      open?.redis.disconnect();
    },
  };
}

function isGivingUp(error: unknown): boolean {
  const { name, message } = error as Error;
  return name === 'MaxRetriesPerRequestError' || /connection is closed/i.test(message);
}

function reasonOf({ error }: Seen, otherwise: unknown): unknown {
  return error ?? otherwise;
}
