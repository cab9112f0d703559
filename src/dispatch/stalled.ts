/**
 * Finds events that wait although nothing keeps them back. Whatever the cause, the feed is silent about these events, so they are a problem.
 *
 * Only the oldest unhandled event of each workspace is looked at: that is one question, and an event behind it becomes the oldest in time. It
 * is not counted while it is handled or waits for its own time (a retry, `settle`), and not for as long as the subscription has handled
 * another event within the limit and will come to it: a long queue is lag, which the status and the metrics show.
 */
import type { Queue } from 'bullmq';
import type { Subscription } from '../handlers/handler.js';
import { isoTime } from '../runtime/clock.js';
import { isSentAgain } from './delivery-id.js';
import type { BackfillStore, JobData } from './ports.js';
import type { Oldest } from './progress.js';

export interface Stalled {
  /** ISO 8601: the event waits since then. */
  since: string;
  /**
   * `paused`: the queue is paused although the subscription is not disabled. `queue`: no worker takes the event. `jobless`: it has no job that
   * could run. `log`: it is not read from the log.
   */
  where: 'paused' | 'queue' | 'jobless' | 'log';
}

/** Longer than a deployment and the wait for the lock of a process that was killed. Shorter, and a slow start would be a problem. */
export const STALLED_MS = 300_000;

export interface StalledOptions {
  subscription: Subscription;
  queue: Queue<JobData>;
  backfills: BackfillStore;
  nowMs: number;
  /** When an attempt last succeeded, ms; 0 when none did. */
  succeededMs: number;
  /** Of the subscription's jobs. */
  paused: boolean;
  dead: number;
  /** Those that run or wait for their time. */
  planned: number;
}

/** The event that has waited for longest among the oldest of each workspace; null when none is stalled. */
export async function findStalled(oldest: readonly Oldest[], options: StalledOptions): Promise<Stalled | null> {
  const found = await Promise.all(oldest.map((one) => stalledOne(one, options)));
  const [first = null] = found.filter((one) => one !== null).sort((one, other) => one.since.localeCompare(other.since));
  return first;
}

async function stalledOne({ id, atMs }: Oldest, options: StalledOptions): Promise<Stalled | null> {
  const { subscription, queue, backfills, nowMs, succeededMs, paused, dead, planned } = options;
  const isLong = (sinceMs: number): boolean => nowMs - sinceMs >= STALLED_MS;
  const loggedMs = atMs ?? 0;
  if (!isLong(loggedMs)) return null;
  // The log waits while a snapshot is read.
  if (id === null)
    return (await backfills.tasks(subscription.name)).length > 0 ? null : stalled(loggedMs, 'log', nowMs);
  const state = await queue.getJobState(id);
  if (state === 'active' || state === 'delayed') return null;
  if (state === 'waiting' || state === 'prioritized') {
    const job = await queue.getJob(id);
    const sinceMs = Math.max(job?.timestamp ?? 0, job?.processedOn ?? 0, succeededMs);
    return isLong(sinceMs) ? stalled(sinceMs, paused ? 'paused' : 'queue', nowMs) : null;
  }
  // It is behind a dead letter that is held on purpose, or behind a younger event of its record, which may wait for its own time.
  if (subscription.whenDead === 'hold' && dead > 0) return null;
  if (isSentAgain(id) && planned > 0) return null;
  return stalled(loggedMs, 'jobless', nowMs);
}

/** An event of a snapshot has no time of its own. */
function stalled(sinceMs: number, where: Stalled['where'], nowMs: number): Stalled {
  return { since: isoTime(sinceMs > 0 ? sinceMs : nowMs - STALLED_MS), where };
}
