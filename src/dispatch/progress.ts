/** How far each subscription is: what it has not read from the log, and what it has read but not handled. */
import { BEFORE_ALL, compareLogIds, timeOfLogId } from '../events/log-id.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import { readsWorkspace } from './match.js';
import type { DispatchStores, LogReader } from './ports.js';
import { isSnapshotRunning } from './snapshot.js';

export interface ProgressOptions extends DispatchStores {
  subscriptions: readonly Subscription[];
  workspaces: readonly string[];
  clock: Clock;
}

/** A subscription that is not done with a workspace. */
export interface Unhandled {
  subscription: string;
  workspace: string;
  /** `reading`: it has not read the log up to the log id. `handling`: some events are neither handled nor dead. */
  stage: 'reading' | 'handling';
}

/**
 * The subscriptions that have not handled all events up to and including these log ids, by workspace. Disabled ones are left
 * out: waiting for them would not end.
 */
export async function findUnhandled(
  upTo: Readonly<Record<string, string>>,
  options: ProgressOptions,
): Promise<Unhandled[]> {
  const { subscriptions, offsets, gate, health } = options;
  const checks = Object.entries(upTo).flatMap(([workspace, logId]) =>
    subscriptions.map(async (one): Promise<Unhandled[]> => {
      if (!readsWorkspace(one, workspace)) return [];
      const subscription = one.name;
      // The offset first, then the pending events: events read in between are then seen as pending.
      const offset = await offsets.get(workspace, subscription);
      if (offset === null || compareLogIds(offset, logId) < 0) return [{ subscription, workspace, stage: 'reading' }];
      if (await isSnapshotRunning({ subscription, workspace }, options)) {
        return [{ subscription, workspace, stage: 'reading' }];
      }
      const { oldest } = await gate.pending(subscription, workspace);
      if (oldest === null || compareLogIds(oldest, logId) > 0) return [];
      return [{ subscription, workspace, stage: 'handling' }];
    }),
  );
  const unhandled = (await Promise.all(checks)).flat();
  const states = await Promise.all(unhandled.map(({ subscription }) => health.read(subscription)));
  return unhandled.filter((_, index) => states[index]?.disabled === null);
}

export interface Lag {
  /** Events not read yet (at most 1,000 per workspace are counted), plus those read and neither handled nor dead. */
  events: number;
  /** Age of the oldest of them, in seconds; 0 without lag. */
  seconds: number;
  /** The oldest of them in each workspace that has any. */
  oldest: readonly Oldest[];
}

export interface Oldest {
  workspace: string;
  logId: string;
  /** When it was logged; of a snapshot from before the log, when it was entered. Null where that is not known. */
  atMs: number | null;
  /** The id of the delivery; null where the event has not been read from the log. */
  id: string | null;
}

/** Redis cannot count a range of the log, only read it. Beyond this number the exact lag does not matter. */
const COUNTED = 1_000;

export async function measureLag(subscription: Subscription, options: ProgressOptions): Promise<Lag> {
  const { clock } = options;
  const workspaces = options.workspaces.filter((workspace) => readsWorkspace(subscription, workspace));
  const measured = workspaces.map((workspace) => measureOne({ subscription: subscription.name, workspace }, options));
  const lags = await Promise.all(measured);
  const oldest = lags.flatMap((lag) => lag.oldest ?? []);
  const oldestMs = oldest.flatMap(({ atMs }) => atMs ?? []);
  return {
    events: lags.reduce((sum, { events }) => sum + events, 0),
    seconds: oldestMs.length === 0 ? 0 : Math.max(0, Math.round((clock.now() - Math.min(...oldestMs)) / 1_000)),
    oldest,
  };
}

interface Where {
  subscription: string;
  workspace: string;
}

async function measureOne(
  { subscription, workspace }: Where,
  { log, offsets, gate }: ProgressOptions,
): Promise<{ events: number; oldest: Oldest | null }> {
  const [offset, tail, { events, oldest: logId, oldestId: id, oldestMs: atMs }] = await Promise.all([
    offsets.get(workspace, subscription),
    log.tail(workspace),
    gate.pending(subscription, workspace),
  ]);
  const pending = logId === null ? null : { workspace, logId, atMs, id };
  // Without an offset it has not started, and its lag is not known.
  if (offset === null || compareLogIds(offset, tail) >= 0 || tail === BEFORE_ALL) return { events, oldest: pending };
  const unread = await countUnread(log, workspace, offset);
  const { first } = unread;
  const next = first === null ? null : { workspace, logId: first, atMs: timeOfLogId(first), id: null };
  return { events: events + unread.events, oldest: pending ?? next };
}

/** A read may return fewer events than asked for, and none only at the end of the log. */
async function countUnread(
  log: LogReader,
  workspace: string,
  offset: string,
): Promise<{ events: number; first: string | null }> {
  let [events, after] = [0, offset];
  let first: string | null = null;
  while (events < COUNTED) {
    const batch = await log.read(workspace, after, COUNTED - events);
    const last = batch.at(-1);
    if (last === undefined) break;
    first ??= batch[0]?.logId ?? null;
    events += batch.length;
    after = last.logId;
  }
  return { events, first };
}
