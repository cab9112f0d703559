/**
 * Wakes somebody when a todo's time comes: a delayed BullMQ job per moment, in one queue per workspace. A job says nothing but
 * "look now": lost, it is made again by the next sweep; woken for nothing, it asks for the next. What is told, and that it is
 * told once, is decided where the timers are kept.
 */
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { messageOf } from '../errors.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';

const QUEUE = 'todos';

/** Further ahead, the sweeps until then will ask again; and BullMQ counts no further than the year 2039. */
const FURTHEST_MS = 7 * 86_400_000;

export interface AlarmOptions {
  workspace: string;
  queuePrefix: string;
  redis: Redis;
  /** Looks, tells, and sets the alarm anew. */
  ring: () => Promise<void>;
  clock: Clock;
  log: Log;
}

export interface Alarm {
  /** Rings at that time or soon after. Asked twice for the same, it rings once. */
  setFor(ms: number): Promise<void>;
  stop(): Promise<void>;
}

export function createAlarm({ workspace, queuePrefix, redis, ring, clock, log }: AlarmOptions): Alarm {
  const options = { connection: redis, prefix: queuePrefix };
  const queue = new Queue(QUEUE, { ...options, streams: { events: { maxLen: 100 } } });
  const worker = new Worker(QUEUE, ring, { ...options, concurrency: 1 });
  const trouble = (error: Error): void => {
    log.warn({ workspace, error: messageOf(error) }, 'todo alarm: Redis trouble');
  };
  queue.on('error', trouble);
  worker.on('error', trouble);
  worker.on('failed', (_job, error) => {
    log.warn({ workspace, error: messageOf(error) }, 'todos could not be looked at when due; the next sweep tells');
  });
  return {
    async setFor(ms) {
      const delay = Math.max(0, ms - clock.now());
      if (delay > FURTHEST_MS) return;
      await queue.add('look', {}, { jobId: `look-${ms}`, delay, removeOnComplete: true, removeOnFail: true });
    },
    async stop() {
      await worker.close();
      await queue.close();
    },
  };
}
