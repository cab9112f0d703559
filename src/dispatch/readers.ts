/** Who reads the logs: one pump per subscription and workspace, each in a loop of its own, and all of them changeable while they run. */
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { runLoop, type LoopBoard } from '../runtime/loop.js';
import type { RedisUse } from '../runtime/redis-watch.js';
import { compileSelection, readsWorkspace } from './match.js';
import type { BackfillStore, LogReader, OffsetStore, RecordGate, SnapshotSource } from './ports.js';
import { Pump } from './reader.js';
import type { Queues } from './queues.js';
import { shareReading } from './shared-log.js';
import { createLogBell } from './wake.js';

export interface ReadersOptions {
  workspaces: readonly string[];
  queues: Queues;
  log: LogReader;
  offsets: OffsetStore;
  gate: RecordGate;
  backfills: BackfillStore;
  source: SnapshotSource;
  logger: Log;
  clock: Clock;
  watch?: RedisUse | undefined;
  loops?: LoopBoard | undefined;
  highWater: number;
  /** Ends all of them. */
  signal: AbortSignal;
}

export interface Readers {
  /**
   * From here on these subscriptions read, and no others; one that is the same object as before goes on undisturbed.
   * Resolves when those that go have stopped and those that come have their places.
   */
  apply(subscriptions: readonly Subscription[]): Promise<void>;
  /** Resolves when everything has ended. */
  ended(): Promise<void>;
}

interface Reading {
  subscription: Subscription;
  stop(): Promise<void>;
}

export function startReaders({ workspaces, ...options }: ReadersOptions): Readers {
  const { signal, watch, loops: board } = options;
  // One workspace's log: its follower, and one reading for all that stand at the same place.
  const desks = workspaces.map((workspace) => ({
    workspace,
    bell: createLogBell({ ...options, workspace }),
    log: { read: shareReading(options.log).read, tail: (name: string) => options.log.tail(name) },
  }));
  const followers = desks.map(({ bell }) => bell.run(signal));
  const readings = new Map<string, Reading>();

  const take = async (subscription: Subscription): Promise<void> => {
    const leaving = new AbortController();
    const either = AbortSignal.any([signal, leaving.signal]);
    const selects = compileSelection(subscription);
    const queue = options.queues.of(subscription.name);
    const pumps = desks
      .filter(({ workspace }) => readsWorkspace(subscription, workspace))
      .map((desk) => new Pump({ ...options, ...desk, subscription, selects, queue }));
    await Promise.all(pumps.map((pump) => pump.begin()));
    const loops = pumps.map((pump) =>
      runLoop({
        name: pump.name,
        // The signal of the turn, which also ends one that has stalled.
        run: (turn) => pump.turn(turn),
        ...(watch && { ready: (within) => watch.untilUsable(within) }),
        signal: either,
        log: options.logger,
        clock: options.clock,
        ...(board && { loops: board }),
      }),
    );
    readings.set(subscription.name, {
      subscription,
      async stop() {
        leaving.abort();
        await Promise.all(loops);
      },
    });
  };
  const leave = async (name: string): Promise<void> => {
    await readings.get(name)?.stop();
    readings.delete(name);
  };
  const change = async (subscriptions: readonly Subscription[]): Promise<void> => {
    const wanted = new Map(subscriptions.map((one) => [one.name, one]));
    const gone = [...readings.values()].filter(({ subscription: one }) => wanted.get(one.name) !== one);
    await Promise.all(gone.map(({ subscription }) => leave(subscription.name)));
    const coming = subscriptions.filter(({ name }) => !readings.has(name));
    if (!signal.aborted) await Promise.all(coming.map(take));
  };
  let changing: Promise<void> = Promise.resolve();
  return {
    apply(subscriptions) {
      changing = changing.catch(() => undefined).then(() => change(subscriptions));
      return changing;
    },
    async ended() {
      await changing.catch(() => undefined);
      await Promise.all([...followers, ...[...readings.values()].map((reading) => reading.stop())]);
    },
  };
}
