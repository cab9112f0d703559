/** Subscriptions disabled and enabled from outside, whatever process runs them. */
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { pauseMarked } from './circuit-breaker.js';
import type { Disabled, HealthStore } from './ports.js';
import type { Queues } from './queues.js';

export interface SwitchOptions {
  queues: Queues;
  health: HealthStore;
  clock: Clock;
}

/**
 * The mark first: killed after it, the queue is still paused, and enabling again resumes it.
 * @returns how it was disabled; null when it was not
 */
export async function enable(subscription: string, { queues, health }: SwitchOptions): Promise<Disabled | null> {
  const queue = queues.of(subscription);
  const was = await health.enable(subscription);
  await queue.resume();
  return was;
}

/** @returns false when it was disabled before: then that reason stays */
export async function disable(
  subscription: string,
  reason: string,
  { queues, health, clock }: SwitchOptions,
): Promise<boolean> {
  const queue = queues.of(subscription);
  const outcome = await health.disable(subscription, { atMs: clock.now(), reason });
  await pauseMarked(subscription, { health, store: queue });
  return outcome === 'disabling';
}

/** Pauses what is marked and not paused: its process was killed in between. Answers the names of all that are disabled. */
export async function enforce({ queues, health }: Omit<SwitchOptions, 'clock'>): Promise<string[]> {
  const looks = [...queues.all].map(async ([name, queue]) => {
    const { disabled } = await health.read(name);
    if (disabled === null) return [];
    if (!(await queue.isPaused())) await pauseMarked(name, { health, store: queue });
    return [name];
  });
  return (await Promise.all(looks)).flat();
}

export async function noteMissing(
  subscriptions: readonly string[],
  { health, logger }: { health: HealthStore; logger: Log },
): Promise<void> {
  for (const subscription of subscriptions) {
    if (!(await health.missed(subscription))) continue;
    logger.error({ subscription }, 'A DISABLED SUBSCRIPTION MISSES EVENTS: log.retention drops what it has not read');
  }
}
