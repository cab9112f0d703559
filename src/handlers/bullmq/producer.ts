/** Adds jobs to a user's queue through its own connection. Does not know events. */
import { Queue, type JobsOptions } from 'bullmq';
import { Redis } from 'ioredis';

export interface ProducerOptions {
  url: string;
  queue: string;
  prefix: string;
  /** For connecting and for each command; ms. */
  timeoutMs: number;
}

export type Producer = ReturnType<typeof createProducer>;

const LONGEST_PAUSE_MS = 2_000;

/** Connects at the first job, so that a command that only reads the configuration opens no connection. */
export function createProducer(options: ProducerOptions) {
  let opening: ReturnType<typeof open> | undefined;
  /** The connection's last error. */
  let failure: Error | undefined;

  async function open() {
    const redis = new Redis(options.url, {
      lazyConnect: true,
      connectTimeout: options.timeoutMs,
      commandTimeout: options.timeoutMs,
      // While Redis is away an attempt fails and the subscription waits. Queued commands would outlive their attempts.
      maxRetriesPerRequest: 1,
      retryStrategy: (times) => Math.min(times * 100, LONGEST_PAUSE_MS),
    });
    redis.on('error', (error: Error) => (failure = error)).on('ready', () => (failure = undefined));
    try {
      await redis.connect();
    } catch (error) {
      redis.disconnect();
      throw error;
    }
    // The queue belongs to the user: its settings stay unchanged.
    const queue = new Queue(options.queue, { connection: redis, prefix: options.prefix, skipMetasUpdate: true });
    queue.on('error', () => undefined);
    return { redis, queue };
  }

  /** @throws the connection's error, or Redis's own */
  async function use<Result>(act: (opened: Awaited<ReturnType<typeof open>>) => Promise<Result>): Promise<Result> {
    try {
      opening ??= open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return await act(await opening);
    } catch (error) {
      // The client only reports that it gave up. The connection's last error has the reason.
      throw isGivingUp(error) ? (failure ?? error) : error;
    }
  }

  return {
    add: (name: string, data: unknown, job: JobsOptions) => use(({ queue }) => queue.add(name, data, job)),
    ping: () => use(({ redis }) => redis.ping()),
    async close(): Promise<void> {
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
