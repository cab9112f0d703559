/**
 * When a subscription is taken out of service, seen from a try that failed: at once when the handler says that nothing can
 * be delivered any more, or when no try of it, in any process, has succeeded for `disableAfter`.
 *
 * Disabled means two things: it is marked, with the reason, and BullMQ's queue is paused. The mark is the truth and comes
 * first; a process killed between the two leaves it to `enforce` (see `switch.ts`) and to the next start of a worker.
 */
import { messageOf } from '../errors.js';
import { isDisabling } from '../handlers/errors.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import { formatDuration } from '../runtime/duration.js';
import type { Log } from '../runtime/log.js';
import type { Store } from './delayed-jobs.js';
import type { HealthStore, DisableOutcome } from './ports.js';

export interface Ward {
  subscription: Subscription;
  health: HealthStore;
  store: Store;
  logger: Log;
  clock: Clock;
}

/** Notes a failed try. `disabled`: the subscription is, by this try or by another; then the try must not count. */
export async function noteFailure(error: unknown, ward: Ward): Promise<'failing' | 'disabled'> {
  const { subscription, logger } = ward;
  const reason = reasonOf(error, subscription);
  const outcome = await judge(error, reason, ward);
  if (outcome === 'failing') return 'failing';
  await pauseMarked(subscription.name, ward);
  if (outcome === 'disabling') logger.error({ subscription: subscription.name, reason }, DISABLED);
  return 'disabled';
}

const DISABLED =
  'SUBSCRIPTION DISABLED: nothing more is delivered to it, its events wait; when the cause is mended, changefeed enable it';

/** What is kept of a message that may be anybody's. */
const LONGEST_REASON = 500;

function reasonOf(error: unknown, { disableAfterMs = 0 }: Subscription): string {
  const said = messageOf(error).slice(0, LONGEST_REASON);
  return isDisabling(error)
    ? said
    : `No try has succeeded for ${formatDuration(disableAfterMs)}. The last one: ${said}`;
}

async function judge(
  error: unknown,
  reason: string,
  { subscription: { name, disableAfterMs = 0 }, health, store, clock }: Ward,
): Promise<'failing' | DisableOutcome> {
  const nowMs = clock.now();
  if (isDisabling(error)) return await health.disable(name, { atMs: nowMs, reason });
  const succeededAtMs = await lastSuccessMs(store);
  return await health.failed(name, { nowMs, succeededAtMs, disableAfterMs, reason });
}

/** The queue remembers who was handled last, so that successes, which are many, need not be noted; 0 when none was. */
export async function lastSuccessMs(store: Store): Promise<number> {
  const backend = store.getBackend();
  const [[newest] = []] = await backend.getRanges(['completed'], 0, 0, false);
  const job = newest === undefined ? undefined : await backend.getJobData(newest);
  return job?.finishedOn ?? 0;
}

/** Pauses the queue of a subscription that is marked; enabled by somebody in the meantime, it goes on. */
export async function pauseMarked(name: string, { health, store }: Pick<Ward, 'health' | 'store'>): Promise<void> {
  await store.getBackend().pause(true);
  const { disabled } = await health.read(name);
  if (disabled === null) await store.getBackend().pause(false);
}

/** At a worker's start: what is disabled stays so, and is said again. */
export async function keepDisabled({ subscription: { name }, health, store, logger }: Ward): Promise<void> {
  const { disabled } = await health.read(name);
  if (disabled === null) return;
  await pauseMarked(name, { health, store });
  const { at, reason } = disabled;
  logger.warn({ subscription: name, since: at, reason }, 'this subscription is disabled: its events wait');
}
