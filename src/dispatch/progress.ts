/** How far each subscription is: read from the log, and handled or dead. */
import { BEFORE_ALL, compareLogIds, timeOfLogId } from '../events/log-id.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import { readsWorkspace } from './match.js';
import type { BackfillStore, HealthStore, LogReader, OffsetStore, RecordGate, SnapshotSource } from './ports.js';
import { isSnapshotUnderWay } from './snapshot.js';

export interface ProgressOptions {
  subscriptions: readonly Subscription[];
  workspaces: readonly string[];
  log: LogReader;
  offsets: OffsetStore;
  gate: RecordGate;
  backfills: BackfillStore;
  source: SnapshotSource;
  health: HealthStore;
  clock: Clock;
}

/** What one subscription still has to do in one workspace. */
export interface Unhandled {
  subscription: string;
  workspace: string;
  /** `reading`: not all has been read from the log; `handling`: some events are neither handled nor dead. */
  stage: 'reading' | 'handling';
}

/**
 * Which subscriptions have not dealt with all events up to and including these log ids, by workspace. Not those that are
 * disabled: nobody could wait for them.
 */
export async function findUnhandled(
  upTo: Readonly<Record<string, string>>,
  { subscriptions, offsets: places, gate, health, ...snapshots }: ProgressOptions,
): Promise<Unhandled[]> {
  const looks = Object.entries(upTo).flatMap(([workspace, logId]) =>
    subscriptions.map(async (one): Promise<Unhandled[]> => {
      if (!readsWorkspace(one, workspace)) return [];
      const subscription = one.name;
      // First the place, then what is pending: what was read in between is then seen as pending.
      const place = await places.get(workspace, subscription);
      if (place === null || compareLogIds(place, logId) < 0) return [{ subscription, workspace, stage: 'reading' }];
      if (await isSnapshotUnderWay({ subscription, workspace }, snapshots)) {
        return [{ subscription, workspace, stage: 'reading' }];
      }
      const { oldest } = await gate.pending(subscription, workspace);
      if (oldest === null || compareLogIds(oldest, logId) > 0) return [];
      return [{ subscription, workspace, stage: 'handling' }];
    }),
  );
  const unhandled = (await Promise.all(looks)).flat();
  const states = await Promise.all(unhandled.map(({ subscription }) => health.read(subscription)));
  return unhandled.filter((_, index) => states[index]?.disabled === null);
}

export interface Lag {
  /** Events not read yet, plus those read and neither handled nor dead. Of the former, at most 1,000 per workspace are counted. */
  events: number;
  /** Age of the oldest of them, in seconds; 0 without lag. */
  seconds: number;
}

/** The log cannot be counted, only read: beyond so many, "many" is answer enough. */
const COUNTED = 1_000;

export async function measureLag(subscription: Subscription, options: ProgressOptions): Promise<Lag> {
  const { clock } = options;
  const workspaces = options.workspaces.filter((workspace) => readsWorkspace(subscription, workspace));
  const looks = workspaces.map((workspace) => measureOne({ subscription: subscription.name, workspace }, options));
  const lags = await Promise.all(looks);
  const oldest = lags.flatMap(({ oldest }) => (oldest === null ? [] : [timeOfLogId(oldest)]));
  return {
    events: lags.reduce((sum, { events }) => sum + events, 0),
    seconds: oldest.length === 0 ? 0 : Math.max(0, Math.round((clock.now() - Math.min(...oldest)) / 1_000)),
  };
}

interface Where {
  subscription: string;
  workspace: string;
}

async function measureOne(
  { subscription, workspace }: Where,
  { log, offsets: places, gate }: ProgressOptions,
): Promise<{ events: number; oldest: string | null }> {
  const [place, tail, pending] = await Promise.all([
    places.get(workspace, subscription),
    log.tail(workspace),
    gate.pending(subscription, workspace),
  ]);
  // Without a place it has not begun; where it will begin is decided then.
  if (place === null || compareLogIds(place, tail) >= 0 || tail === BEFORE_ALL) return pending;
  const unread = await log.read(workspace, place, COUNTED);
  return { events: pending.events + unread.length, oldest: pending.oldest ?? unread[0]?.logId ?? null };
}
