/** The options of `bullmq`. */
import { z } from 'zod';
import { strictOptions, wholeNumber } from '../../schema-kit/fields.js';
import { subscriptionShape, type SubscriptionOptions } from '../options.js';

export interface BullmqOptions extends SubscriptionOptions {
  /** The name of your queue. */
  queue: string;
  /** The Redis it lives in: `redis://:password@host:6379/0` or `rediss://…`. @defaultValue the variable `REDIS_URL` */
  redis?: string | undefined;
  /** The prefix your workers use. @defaultValue 'bull', as BullMQ's own */
  prefix?: string | undefined;
  /** What jobs are called. @defaultValue the event's type */
  jobName?: string | undefined;
  /** What your workers find as the job's options; names and units are BullMQ's. */
  job?: BullmqJobOptions | undefined;
}

export interface BullmqJobOptions {
  /** Tries by your workers, the first included. @defaultValue 1 */
  attempts?: number | undefined;
  /** Between these tries, in ms. @defaultValue none */
  backoff?: { type: 'fixed' | 'exponential'; delay: number } | undefined;
  /** 0 is first. @defaultValue 0 */
  priority?: number | undefined;
  /**
   * Completed jobs that stay: all (`false`), none (`true`), so many, or so long (`age` in s). While a job is there, its event is
   * not added again. @defaultValue `{ age: 86400 }`
   */
  removeOnComplete?: KeptJobs | undefined;
  /** The same for failed jobs. @defaultValue false */
  removeOnFail?: KeptJobs | undefined;
}

export type KeptJobs = boolean | number | { age?: number | undefined; count?: number | undefined };

const A_QUEUE = "the name of a queue, without ':'";
const A_REDIS = 'a URL such as redis://:password@host:6379/0 or rediss://…';
const A_TEXT = 'a text that is not empty';
const A_BACKOFF = `'fixed' or 'exponential'`;
const KEPT = 'true, false, a number of jobs, or { age: seconds, count: jobs }';
const MOST = 2 ** 31 - 1;
const DAY_SECONDS = 86_400;

const kept = z.union(
  [
    z.boolean(),
    wholeNumber(0, MOST),
    strictOptions({ age: wholeNumber(0, MOST).optional(), count: wholeNumber(0, MOST).optional() }),
  ],
  { error: KEPT },
);

const job = strictOptions({
  attempts: wholeNumber(1, 1_000).optional(),
  backoff: strictOptions({
    type: z.enum(['fixed', 'exponential'], { error: A_BACKOFF }),
    delay: wholeNumber(0, MOST),
  }).optional(),
  priority: wholeNumber(0, 2_097_152).optional(),
  removeOnComplete: kept.default({ age: DAY_SECONDS }),
  removeOnFail: kept.default(false),
});

export const bullmqSchema = strictOptions({
  ...subscriptionShape,
  queue: z.string({ error: A_QUEUE }).regex(/^[^:]+$/, { error: A_QUEUE }),
  redis: z.string({ error: A_REDIS }).refine(isRedisUrl, { error: A_REDIS }).optional(),
  prefix: z.string({ error: A_TEXT }).min(1, { error: A_TEXT }).default('bull'),
  jobName: z.string({ error: A_TEXT }).min(1, { error: A_TEXT }).optional(),
  job: job.prefault({}),
}) satisfies z.ZodType<unknown, BullmqOptions>;

export type BullmqSettings = z.output<typeof bullmqSchema>;

export function isRedisUrl(url: string): boolean {
  return /^rediss?:\/\//.test(url) && URL.canParse(url);
}
