/** `bullmq`: every event as a job in your own queue, for workers in any language that BullMQ supports. */
import type { JobsOptions } from 'bullmq';
import { ChangefeedError, messageOf } from '../../errors.js';
import type { ChangeEvent } from '../../events/types.js';
import { systemClock } from '../../runtime/clock.js';
import type { Reached, Subscription } from '../handler.js';
import { defineKind } from '../kind.js';
import { toSubscription } from '../options.js';
import { redisUrlFault } from '../../schema-kit/addresses.js';
import { optionsError } from '../../schema-kit/problem.js';
import { bullmqSchema, type BullmqOptions, type BullmqSettings } from './options.js';
import { createProducer, type Producer } from './producer.js';

const LONGEST_TIMEOUT_MS = 10_000;

/**
 * A subscription that adds each event to your own BullMQ queue, with the event as data and the event's id as job id. Delivery is at
 * least once: an event added twice is one job while the first is stored, and a second job afterwards. Jobs are added in the order of
 * a record's events; your workers decide whether they process them in that order.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_REDIS_UNREACHABLE`
 */
export function bullmq(options: BullmqOptions): Subscription {
  return bullmqKind.inCode(options);
}

export const bullmqKind = defineKind('bullmq', bullmqSchema, (options) => createBullmq(options));

/** @param env provides `REDIS_URL` if `redis` is left out */
export function createBullmq(settings: BullmqSettings, env: NodeJS.ProcessEnv = process.env): Subscription {
  const { name, queue, prefix, timeout } = settings;
  const url = settings.redis ?? urlFrom(env, name);
  const producer = createProducer({ url, queue, prefix, timeoutMs: Math.min(timeout, LONGEST_TIMEOUT_MS) });
  return toSubscription(settings, {
    handler: 'bullmq',
    handle: (event) => add(event, { settings, producer, place: new URL(url).host }),
    reach: () => reach(name, { producer, place: new URL(url).host }),
    close: () => producer.close(),
  });
}

async function reach(subscription: string, { producer, place }: Omit<Destination, 'settings'>): Promise<Reached> {
  const startedAt = systemClock.now();
  const reason = await producer.ping().then(() => null, reasonOf);
  const reached = { subscription, place, ms: systemClock.now() - startedAt };
  if (reason === null) return { ...reached, problem: null };
  const remedy = 'Start the Redis of your workers, or correct the option redis (without it: REDIS_URL).';
  return { ...reached, problem: `Bullmq "${subscription}": ${place} could not be reached (${reason}).`, remedy };
}

/** A private Redis has no address that other programs know, so a queue in it would have no workers. */
function urlFrom(env: NodeJS.ProcessEnv, name: string): string {
  const url = env['REDIS_URL'] ?? '';
  if (redisUrlFault(url) === undefined) return url;
  const problem =
    'found nothing, and no Redis URL in REDIS_URL either; allowed: the URL of the Redis that your workers use';
  throw optionsError([{ path: ['redis'], owner: `bullmq ${JSON.stringify(name)}`, problem }]);
}

interface Destination {
  settings: BullmqSettings;
  producer: Producer;
  /** Host and port. */
  place: string;
}

async function add(event: ChangeEvent, { settings, producer, place }: Destination): Promise<void> {
  const { name: subscription, queue, jobName, job } = settings;
  const { removeOnComplete, removeOnFail, ...given } = job;
  try {
    await producer.add(jobName ?? event.type, event, {
      jobId: event.id,
      ...(given as JobsOptions),
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

/** In BullMQ's form, which requires one of the two limits. */
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
