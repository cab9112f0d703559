/** `bullmq`: every event as a job in a queue of your own, for workers in any language BullMQ speaks. */
import { ChangefeedError, messageOf } from '../../errors.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Subscription } from '../handler.js';
import { defineKind } from '../kind.js';
import { toSubscription } from '../options.js';
import { bullmqSchema, isRedisUrl, type BullmqOptions, type BullmqSettings } from './options.js';
import { createProducer, type Producer } from './producer.js';

const LONGEST_TIMEOUT_MS = 10_000;

/**
 * A subscription that adds each event to a BullMQ queue of yours: the event as the job's data, its id as the job's. Delivery
 * is at least once: an event added twice is one job as long as the first is stored, and a second one afterwards. Jobs are
 * added in the order of a record's events; whether they are worked in it is your workers' affair.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_REDIS_UNREACHABLE`
 */
export function bullmq(options: BullmqOptions): Subscription {
  return bullmqKind.build(options, '');
}

export const bullmqKind = defineKind('bullmq', bullmqSchema, (options) => createBullmq(options));

/** @param env where `REDIS_URL` is looked up when `redis` is left out */
export function createBullmq(settings: BullmqSettings, env: NodeJS.ProcessEnv = process.env): Subscription {
  const { name, queue, prefix, timeout } = settings;
  const url = settings.redis ?? urlFrom(env, name);
  const producer = createProducer({ url, queue, prefix, timeoutMs: Math.min(timeout, LONGEST_TIMEOUT_MS) });
  return toSubscription(settings, {
    handler: 'bullmq',
    handle: (event) => add(event, { settings, producer, place: new URL(url).host }),
    close: () => producer.close(),
  });
}

/** The Redis we start ourselves has no address that others could know: such a queue would have no readers. */
function urlFrom(env: NodeJS.ProcessEnv, name: string): string {
  const url = env['REDIS_URL'] ?? '';
  if (isRedisUrl(url)) return url;
  throw new ChangefeedError('CF_CONFIG_INVALID', {
    message: `redis of bullmq ${JSON.stringify(name)}: found nothing, and no Redis URL in REDIS_URL either; allowed: the URL of the Redis that your workers use.`,
  });
}

interface Destination {
  settings: BullmqSettings;
  producer: Producer;
  /** Host and port. */
  place: string;
}

async function add(event: ChangeEvent, { settings, producer, place }: Destination): Promise<void> {
  const { name: subscription, queue, jobName, job } = settings;
  const { attempts, backoff, priority, removeOnComplete, removeOnFail } = job;
  try {
    await producer.add(jobName ?? event.type, event, {
      jobId: event.id,
      ...(attempts !== undefined && { attempts }),
      ...(backoff !== undefined && { backoff }),
      ...(priority !== undefined && { priority }),
      removeOnComplete: keptOf(removeOnComplete),
      removeOnFail: keptOf(removeOnFail),
    });
  } catch (error) {
    throw new ChangefeedError('CF_REDIS_UNREACHABLE', {
      message: `Bullmq "${subscription}": could not add to queue "${queue}" at ${place}: ${reasonOf(error)}. The event is tried again.`,
      subscription,
      cause: error,
    });
  }
}

type Kept = BullmqSettings['job']['removeOnFail'];
type KeptJobs = boolean | number | { age: number; count?: number } | { count: number };

/** BullMQ's own forms, in which one of the two bounds is a must. */
function keptOf(kept: Kept): KeptJobs {
  if (typeof kept !== 'object') return kept;
  const { age, count } = kept;
  if (age !== undefined) return count === undefined ? { age } : { age, count };
  return count === undefined ? false : { count };
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return (code ?? messageOf(error)).replace(/\s+/g, ' ').slice(0, 200).replace(/\.$/, '');
}
