/**
 * The circuit breaker of a subscription: disables it, so that nothing is delivered to it until it is enabled. A failed
 * attempt disables it at once when the handler reports that delivery has become impossible, or when no attempt in any process
 * has succeeded for `disableAfter`. It can also be disabled and enabled by command.
 *
 * Disabling has two steps: the subscription is marked as disabled with the reason, and its BullMQ queue is paused. The mark is
 * authoritative and comes first. If the process is killed in between, `enforceDisabled` and the next start of a worker pause
 * the queue.
 */
import { messageOf } from '../errors.js';
import { isDisabling } from '../handlers/errors.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import { formatDuration } from '../runtime/duration.js';
import type { Log } from '../runtime/log.js';
import type { Disabled, DisableOutcome, HealthStore } from './ports.js';
import type { QueueHandle, Queues } from './queues.js';

export interface BreakerContext {
  subscription: Subscription;
  health: HealthStore;
  queue: QueueHandle;
  logger: Log;
  clock: Clock;
}

/** Logged by the process whose attempt has disabled it. */
export const SUBSCRIPTION_DISABLED =
  'SUBSCRIPTION DISABLED: nothing is delivered to it and its events wait; fix the cause, then run changefeed enable';

/** Notes a failed attempt. `disabled`: this attempt or another has disabled the subscription; the attempt must not count. */
export async function noteFailure(error: unknown, context: BreakerContext): Promise<'failing' | 'disabled'> {
  const { subscription, logger } = context;
  const reason = reasonOf(error, subscription);
  const outcome = await disableIfDue(error, reason, context);
  if (outcome === 'failing') return 'failing';
  await pauseIfDisabled(subscription.name, context);
  if (outcome === 'disabling') {
    logger.error({ subscription: subscription.name, reason }, SUBSCRIPTION_DISABLED);
  }
  return 'disabled';
}

/** The message may come from anywhere, so its length is bounded. */
const LONGEST_REASON = 500;

function reasonOf(error: unknown, { disableAfterMs = 0 }: Subscription): string {
  const message = messageOf(error).slice(0, LONGEST_REASON);
  return isDisabling(error)
    ? message
    : `No attempt has succeeded for ${formatDuration(disableAfterMs)}. Last error: ${message}`;
}

async function disableIfDue(
  error: unknown,
  reason: string,
  { subscription: { name, disableAfterMs = 0 }, health, queue, clock }: BreakerContext,
): Promise<'failing' | DisableOutcome> {
  const nowMs = clock.now();
  if (isDisabling(error)) return await health.disable(name, { atMs: nowMs, reason });
  const succeededAtMs = await lastSuccessMs(queue);
  return await health.failed(name, { nowMs, succeededAtMs, disableAfterMs, reason });
}

/** When an attempt last succeeded; 0 when none did. Read from the queue's completed jobs, so that successes need no writes. */
export async function lastSuccessMs(queue: QueueHandle): Promise<number> {
  const backend = queue.getBackend();
  const [[newest] = []] = await backend.getRanges(['completed'], 0, 0, false);
  const job = newest === undefined ? undefined : await backend.getJobData(newest);
  return job?.finishedOn ?? 0;
}

/** Pauses the queue of a disabled subscription. If the subscription was enabled in the meantime, the queue is resumed. */
async function pauseIfDisabled(
  name: string,
  { health, queue }: Pick<BreakerContext, 'health' | 'queue'>,
): Promise<void> {
  await queue.getBackend().pause(true);
  const { disabled } = await health.read(name);
  if (disabled === null) await queue.getBackend().pause(false);
}

/** Called when a worker starts: a disabled subscription stays disabled, and the log says so again. */
export async function keepDisabled({ subscription: { name }, health, queue, logger }: BreakerContext): Promise<void> {
  const { disabled } = await health.read(name);
  if (disabled === null) return;
  await pauseIfDisabled(name, { health, queue });
  const { at, reason } = disabled;
  logger.warn({ subscription: name, since: at, reason }, 'subscription is disabled, its events wait');
}

export interface CommandContext {
  queues: Queues;
  health: HealthStore;
  clock: Clock;
}

/**
 * Removes the mark first: if the process is killed after it, the queue is still paused, and enabling again resumes it.
 * @returns how it was disabled; null when it was not
 */
export async function enable(subscription: string, { queues, health }: CommandContext): Promise<Disabled | null> {
  const queue = queues.of(subscription);
  const was = await health.enable(subscription);
  await queue.resume();
  return was;
}

/** @returns false when it was disabled before: then that reason stays */
export async function disable(
  subscription: string,
  reason: string,
  { queues, health, clock }: CommandContext,
): Promise<boolean> {
  const queue = queues.of(subscription);
  const outcome = await health.disable(subscription, { atMs: clock.now(), reason });
  await pauseIfDisabled(subscription, { health, queue });
  return outcome === 'disabling';
}

/** Pauses the queues of subscriptions whose process was killed while disabling them. Returns the names of all disabled ones. */
export async function enforceDisabled({ queues, health }: Omit<CommandContext, 'clock'>): Promise<string[]> {
  const checks = [...queues.all].map(async ([name, queue]) => {
    const { disabled } = await health.read(name);
    if (disabled === null) return [];
    if (!(await queue.isPaused())) await pauseIfDisabled(name, { health, queue });
    return [name];
  });
  return (await Promise.all(checks)).flat();
}

export async function noteMissing(
  subscriptions: readonly string[],
  { health, logger }: { health: HealthStore; logger: Log },
): Promise<void> {
  for (const subscription of subscriptions) {
    if (!(await health.missed(subscription))) continue;
    logger.error(
      { subscription },
      'A DISABLED SUBSCRIPTION MISSES EVENTS: log.retention dropped events it has not read',
    );
  }
}
