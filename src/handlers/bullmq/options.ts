/** The options of `bullmq`. */
import { z } from 'zod';
import { redisUrl } from '../../schema-kit/addresses.js';
import { matching, oneOf, strictOptions, text, wholeNumber } from '../../schema-kit/fields.js';
import { subscriptionShape } from '../options.js';

const MOST = 2 ** 31 - 1;
const DAY_SECONDS = 86_400;

const keptJobs = z.union(
  [
    z.boolean(),
    wholeNumber(0, MOST),
    strictOptions({ age: wholeNumber(0, MOST).optional(), count: wholeNumber(0, MOST).optional() }),
  ],
  { error: 'true, false, a number of jobs, or { age: seconds, count: jobs }' },
);

const jobOptions = strictOptions({
  /** Number of attempts by your workers, the first included. @defaultValue 1 */
  attempts: wholeNumber(1, 1_000).optional(),
  /** The wait between these attempts, in ms. @defaultValue none */
  backoff: strictOptions({ type: oneOf('fixed', 'exponential'), delay: wholeNumber(0, MOST) }).optional(),
  /** Workers take jobs with a lower number first, after those with 0. @defaultValue 0 */
  priority: wholeNumber(0, 2_097_152).optional(),
  /**
   * Which completed jobs are kept: all (`false`), none (`true`), a number of jobs, or those younger than `age` seconds. While a
   * job is kept, its event is not added again. @defaultValue `{ age: 86400 }`
   */
  removeOnComplete: keptJobs.default({ age: DAY_SECONDS }),
  /** Which failed jobs are kept, in the same form. @defaultValue false */
  removeOnFail: keptJobs.default(false),
});

const NOT_EMPTY = 'a text that is not empty';

export const bullmqSchema = strictOptions({
  ...subscriptionShape,
  /** The name of your queue. */
  queue: matching(/^[^:]+$/, "the name of a queue, without ':'"),
  /** The Redis of the queue: `redis://:password@host:6379/0` or `rediss://…`. @defaultValue the variable `REDIS_URL` */
  redis: redisUrl.optional(),
  /** The prefix your workers use. @defaultValue 'bull', as in BullMQ */
  prefix: text(NOT_EMPTY).default('bull'),
  /** The name of the jobs. @defaultValue the event's type */
  jobName: text(NOT_EMPTY).optional(),
  /** Options of the jobs that your workers receive. Names and units are BullMQ's. */
  job: jobOptions.prefault({}),
});

export type BullmqOptions = z.input<typeof bullmqSchema>;
export type BullmqJobOptions = z.input<typeof jobOptions>;
export type BullmqSettings = z.output<typeof bullmqSchema>;
