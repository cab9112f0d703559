/** `bullmq`: every event as a job in your own queue, for workers in any language that BullMQ supports. */
import { Queue, type JobsOptions } from 'bullmq';
import { z } from 'zod';
import { messageOf } from '../../../kit/errors.js';
import { openClient, parseRedisUrl } from '../../../redis/client.js';
import { printable, shorten } from '../../../kit/printable.js';
import { redisUrl, redisUrlFault, sendsInClear } from '../../../kit/schema/addresses.js';
import { matching, oneOf, strictOptions, text, wholeNumber } from '../../../kit/schema/fields.js';
import { variableIn } from '../../../kit/schema/env-variable.js';
import { optionsError } from '../../../kit/schema/problem.js';
import type { Reached } from '../handler.js';
import { defineKind, kindOptions, type OpenedKind } from '../kind.js';

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

export const bullmqSchema = kindOptions({
  /** The name of your queue. */
  queue: matching(/^[^:]+$/, "the name of a queue, without ':'"),
  /** The Redis of the queue, in the forms of `redis.url`. @defaultValue the variable `REDIS_URL` */
  redis: redisUrl.optional(),
  /** The prefix your workers use. In a Redis Cluster, a part of it in braces, such as `{bull}`. @defaultValue 'bull', as in BullMQ */
  prefix: text(NOT_EMPTY).default('bull'),
  /** The name of the jobs. @defaultValue the event's type */
  jobName: text(NOT_EMPTY).optional(),
  /** Options of the jobs that your workers receive. Names and units are BullMQ's. */
  job: jobOptions.prefault({}),
});

/** Options of `bullmq`. */
export type BullmqOptions = z.input<typeof bullmqSchema>;
/** Options of the jobs that your workers receive. */
export type BullmqJobOptions = z.input<typeof jobOptions>;
type BullmqSettings = z.output<typeof bullmqSchema>;

const LONGEST_TIMEOUT_MS = 10_000;

/**
 * A subscription that adds each event to your own BullMQ queue, with the event as data and the event's id as job id. Delivery is at
 * least once: an event added twice is one job while the first is stored, and a second job afterwards. Jobs are added in the order of
 * a record's events; your workers decide whether they process them in that order.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_REDIS_UNREACHABLE`
 */
export const bullmq = defineKind({
  name: 'bullmq',
  words: { en: 'BullMQ', ko: 'BullMQ' },
  options: bullmqSchema,
  open: (settings) => openBullmq(settings),
});

export function openBullmq(settings: BullmqSettings, env: NodeJS.ProcessEnv = process.env): OpenedKind {
  const { name, queue, prefix, timeout, jobName, job } = settings;
  const url = settings.redis ?? urlFrom(env, name);
  const { kind, place } = parseRedisUrl(url);
  if (kind === 'cluster' && !/\{[^}]+\}/.test(prefix)) {
    const problem = `found ${JSON.stringify(prefix)}; allowed in a Redis Cluster: a prefix in braces, such as '{bull}', so that all keys of the queue are on one server`;
    throw optionsError([{ path: ['prefix'], owner: `bullmq ${JSON.stringify(name)}`, problem }]);
  }
  const producer = createProducer({ url, queue, prefix, timeoutMs: Math.min(timeout, LONGEST_TIMEOUT_MS) });
  return {
    deliver: async (event) => {
      await producer.add(jobName ?? event.type, event, { jobId: event.id, ...(job as JobsOptions) });
    },
    failure: (cause) => ({
      code: 'CF_REDIS_UNREACHABLE',
      message: `could not add to queue "${queue}" at ${place}: ${reasonOf(cause)}. The event is tried again.`,
      ...{ cause, said: quotesCommand(cause) ? messageOf(cause) : undefined },
    }),
    reach: () => reach(name, producer, place),
    inClear: sendsInClear(url) ? 'use rediss in redis' : undefined,
    close: () => producer.close(),
  };
}

async function reach(subscription: string, producer: Producer, place: string): Promise<Reached> {
  const reason = await producer.ping().then(() => null, reasonOf);
  if (reason === null) return { place, problem: null };
  const remedy = 'Start the Redis of your workers, or correct the option redis (without it: REDIS_URL).';
  return { place, problem: `Bullmq "${subscription}": ${place} could not be reached (${reason}).`, remedy };
}

/** A private Redis has no address that other programs know, so a queue in it would have no workers. */
function urlFrom(env: NodeJS.ProcessEnv, name: string): string {
  const url = variableIn(env, 'REDIS_URL') ?? '';
  if (redisUrlFault(url) === undefined) return url;
  const problem =
    'found nothing, and no Redis URL in REDIS_URL either; allowed: the URL of the Redis that your workers use';
  throw optionsError([{ path: ['redis'], owner: `bullmq ${JSON.stringify(name)}`, problem }]);
}

function reasonOf(error: unknown): string {
  if (quotesCommand(error)) return 'Redis answered ERR';
  const { code } = error as NodeJS.ErrnoException;
  return shorten(printable(code ?? messageOf(error)), 200).replace(/\.$/, '');
}

/** "ERR unknown command …, with args beginning with: …": the arguments are the event. */
function quotesCommand(error: unknown): boolean {
  return messageOf(error).startsWith('ERR ');
}

const LONGEST_PAUSE_MS = 2_000;

type Producer = ReturnType<typeof createProducer>;

/** It connects at the first job, so that a command that only reads the configuration opens no connection. */
function createProducer(options: { url: string; queue: string; prefix: string; timeoutMs: number }) {
  let opening: ReturnType<typeof open> | undefined;
  let failure: Error | undefined;

  async function open() {
    const redis = openClient(parseRedisUrl(options.url), {
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
  return name === 'MaxRetriesPerRequestError' || /connection is closed|none of startup nodes/i.test(message);
}
