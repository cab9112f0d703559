/**
 * Pauses a subscription until it is resumed: by command, when the handler reports that delivery has become
 * impossible, when no attempt in any process has succeeded for `disableAfter`, or when several digests in a row were given up.
 *
 * The reason is stored or removed first, then the queue is paused or resumed. The stored reason is authoritative: after
 * a kill in between, or a deletion by hand, `enforcePaused` and the next start of a worker let the queue follow.
 */
import { isDisabling, partsOf } from '../handlers/errors.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../../kit/clock.js';
import { formatDuration } from '../../kit/duration.js';
import type { Log } from '../../kit/log.js';
import type { HealthStore, Paused } from '../health.js';
import type { QueueHandle, Queues } from '../queues.js';
import type { DispatchContext } from '../stores.js';

interface Parts {
  health: HealthStore;
  queue: QueueHandle;
}

export interface BreakerContext extends Parts {
  subscription: Subscription;
  logger: Log;
  clock: Clock;
}

const SUBSCRIPTION_PAUSED =
  'SUBSCRIPTION PAUSED: nothing is delivered to it and its events wait; fix the cause, then run changefeed resume';
/** The message of an error may come from anywhere. */
const LONGEST_REASON = 500;

/** `paused`: this attempt or another has paused the subscription; the attempt must not count. */
export async function noteFailure(
  error: unknown,
  workspace: string,
  { subscription, health, queue, logger, clock }: BreakerContext,
): Promise<'failing' | 'paused'> {
  const { name, disableAfterMs = 0 } = subscription;
  const nowMs = clock.now();
  const message = partsOf(error).known.slice(0, LONGEST_REASON);
  const lasting = `No attempt has succeeded for ${formatDuration(disableAfterMs)}. Last error: ${message}`;
  const isAtOnce = isDisabling(error);
  const reason = isAtOnce ? message : lasting;
  const note = { nowMs, disableAfterMs, reason, error: { workspace, message } };
  const outcome = isAtOnce ? await health.pause(name, { atMs: nowMs, reason }) : await health.failed(name, note);
  if (outcome === 'failing') return outcome;
  await followReason(name, { health, queue });
  if (outcome === 'pausing') logger.error({ subscription: name, reason }, SUBSCRIPTION_PAUSED);
  return 'paused';
}

/** A receiver that is away for a night is tried by fewer digests than these. One that never succeeds keeps the log from being trimmed. */
const MOST_DIGESTS = 5;

/** A digest or report was given up: nothing of it becomes a dead letter, so a person must hear when none arrives. */
export async function noteDigestOver(error: unknown, context: BreakerContext): Promise<void> {
  const { subscription, health, queue, logger, clock } = context;
  const { name } = subscription;
  const times = await health.digestOver(name);
  if (times < MOST_DIGESTS) return;
  const message = partsOf(error).known.slice(0, LONGEST_REASON);
  const reason = `${times} digests or reports in a row were given up after their last attempt. Last error: ${message}`;
  if ((await health.pause(name, { atMs: clock.now(), reason })) !== 'pausing') return;
  await followReason(name, { health, queue });
  logger.error({ subscription: name, reason }, SUBSCRIPTION_PAUSED);
}

/** Pauses the queue of a paused subscription and resumes that of another one. */
async function followReason(name: string, { health, queue }: Parts): Promise<Paused | null> {
  for (;;) {
    const { paused } = await health.read(name);
    await queue.getBackend().pause(paused !== null);
    // It may have been changed in the meantime.
    const { paused: now } = await health.read(name);
    if ((now === null) === (paused === null)) return now;
  }
}

/** Called before a worker takes jobs: its queue may not be paused yet. */
export async function keepPaused(name: string, parts: Parts): Promise<void> {
  if ((await parts.health.read(name)).paused !== null) await followReason(name, parts);
}

type CommandContext = DispatchContext & { queues: Queues };

export async function resume(subscription: string, { queues, health }: CommandContext): Promise<Paused | null> {
  const queue = queues.of(subscription);
  const was = await health.resume(subscription);
  await followReason(subscription, { health, queue });
  return was;
}

/** @returns false when it was paused before: then that reason stays */
export async function pause(
  subscription: string,
  reason: string,
  { queues, health, clock }: CommandContext,
): Promise<boolean> {
  const queue = queues.of(subscription);
  const outcome = await health.pause(subscription, { atMs: clock.now(), reason });
  await followReason(subscription, { health, queue });
  return outcome === 'pausing';
}

/** Lets the queues follow the stored reasons. Returns the names of all paused subscriptions. */
export async function enforcePaused({ queues, health, logger }: CommandContext): Promise<string[]> {
  const checks = [...queues.all].map(async ([name, queue]) => {
    const isPaused = await queue.isPaused();
    const { paused } = await health.read(name);
    if (isPaused === (paused !== null)) return isPaused ? [name] : [];
    const now = await followReason(name, { health, queue });
    if (isPaused && now === null) logger.warn({ subscription: name }, RESUMED);
    return now === null ? [] : [name];
  });
  return (await Promise.all(checks)).flat();
}

const RESUMED = 'the queue was paused although the subscription is not: resumed; changefeed pause stops it';

export async function noteMissing(
  subscriptions: readonly string[],
  { health, logger }: DispatchContext,
): Promise<void> {
  for (const subscription of subscriptions) {
    if (!(await health.missed(subscription))) continue;
    logger.error({ subscription }, 'A PAUSED SUBSCRIPTION MISSES EVENTS: log.retention dropped events it has not read');
  }
}
