/**
 * Disables a subscription until it is enabled: by command, when the handler reports that delivery has become
 * impossible, or when no attempt in any process has succeeded for `disableAfter`.
 *
 * The reason is stored or removed first, then the queue is paused or resumed. The stored reason is authoritative: after
 * a kill in between, or a deletion by hand, `enforceDisabled` and the next start of a worker let the queue follow.
 */
import { isDisabling, partsOf } from '../handlers/errors.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import { formatDuration } from '../runtime/duration.js';
import type { Log } from '../runtime/log.js';
import type { Disabled, HealthStore } from '../state/health.js';
import type { QueueHandle, Queues } from './queues.js';

export interface BreakerContext {
  subscription: Subscription;
  health: HealthStore;
  queue: QueueHandle;
  logger: Log;
  clock: Clock;
}

const SUBSCRIPTION_DISABLED =
  'SUBSCRIPTION DISABLED: nothing is delivered to it and its events wait; fix the cause, then run changefeed enable';
/** The message of an error may come from anywhere. */
const LONGEST_REASON = 500;

/** `disabled`: this attempt or another has disabled the subscription; the attempt must not count. */
export async function noteFailure(
  error: unknown,
  workspace: string,
  { subscription, health, queue, logger, clock }: BreakerContext,
): Promise<'failing' | 'disabled'> {
  const { name, disableAfterMs = 0 } = subscription;
  const nowMs = clock.now();
  const message = partsOf(error).known.slice(0, LONGEST_REASON);
  const lasting = `No attempt has succeeded for ${formatDuration(disableAfterMs)}. Last error: ${message}`;
  const isAtOnce = isDisabling(error);
  const reason = isAtOnce ? message : lasting;
  const note = { nowMs, disableAfterMs, reason, error: { workspace, message } };
  const outcome = isAtOnce ? await health.disable(name, { atMs: nowMs, reason }) : await health.failed(name, note);
  if (outcome === 'failing') return outcome;
  await followReason(name, { health, queue });
  if (outcome === 'disabling') logger.error({ subscription: name, reason }, SUBSCRIPTION_DISABLED);
  return 'disabled';
}

type Parts = Pick<BreakerContext, 'health' | 'queue'>;

/** Pauses the queue of a disabled subscription and resumes that of an enabled one. */
async function followReason(name: string, { health, queue }: Parts): Promise<Disabled | null> {
  for (;;) {
    const { disabled } = await health.read(name);
    await queue.getBackend().pause(disabled !== null);
    // It may have been changed in the meantime.
    const { disabled: now } = await health.read(name);
    if ((now === null) === (disabled === null)) return now;
  }
}

/** Called before a worker takes jobs: its queue may not be paused yet. */
export async function keepDisabled(name: string, parts: Parts): Promise<void> {
  if ((await parts.health.read(name)).disabled !== null) await followReason(name, parts);
}

interface CommandContext {
  queues: Queues;
  health: HealthStore;
  clock: Clock;
  logger: Log;
}
export async function enable(subscription: string, { queues, health }: CommandContext): Promise<Disabled | null> {
  const queue = queues.of(subscription);
  const was = await health.enable(subscription);
  await followReason(subscription, { health, queue });
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
  await followReason(subscription, { health, queue });
  return outcome === 'disabling';
}

/** Lets the queues follow the stored reasons. Returns the names of all disabled subscriptions. */
export async function enforceDisabled({ queues, health, logger }: CommandContext): Promise<string[]> {
  const checks = [...queues.all].map(async ([name, queue]) => {
    const isPaused = await queue.isPaused();
    const { disabled } = await health.read(name);
    if (isPaused === (disabled !== null)) return isPaused ? [name] : [];
    const now = await followReason(name, { health, queue });
    if (isPaused && now === null) logger.warn({ subscription: name }, RESUMED);
    return now === null ? [] : [name];
  });
  return (await Promise.all(checks)).flat();
}

const RESUMED = 'the queue was paused although the subscription is not disabled: resumed; changefeed disable stops it';

export async function noteMissing(
  subscriptions: readonly string[],
  { health, logger }: Pick<CommandContext, 'health' | 'logger'>,
): Promise<void> {
  for (const subscription of subscriptions) {
    if (!(await health.missed(subscription))) continue;
    logger.error(
      { subscription },
      'A DISABLED SUBSCRIPTION MISSES EVENTS: log.retention dropped events it has not read',
    );
  }
}
