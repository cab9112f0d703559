/** Runs one reader per subscription and workspace, each in its own loop. The set of subscriptions can change while they run. */
import type { Subscription } from '../handlers/handler.js';
import { runLoop, type LoopBoard } from '../runtime/loop.js';
import type { RedisUse } from '../redis/watch.js';
import { compileSelection, readsWorkspace } from './match.js';
import type { Queues } from './queues.js';
import { SubscriptionReader, type ReaderOptions } from './reader.js';
import { shareLog } from './shared-log.js';

export interface ReadersOptions extends Omit<
  ReaderOptions,
  'workspace' | 'subscription' | 'selects' | 'queue' | 'shared'
> {
  workspaces: readonly string[];
  queues: Queues;
  watch?: RedisUse | undefined;
  loops?: LoopBoard | undefined;
  /** Ends all readers. */
  signal: AbortSignal;
}

export interface Readers {
  /**
   * Replaces the set of subscriptions. One that is the same object as before is not restarted. Resolves when removed ones have
   * stopped reading and new ones have their offsets.
   */
  apply(subscriptions: readonly Subscription[]): Promise<void>;
  /** Resolves when all readers have ended. */
  ended(): Promise<void>;
}

interface Reading {
  subscription: Subscription;
  stop(): Promise<void>;
}

export function startReaders({ workspaces, ...options }: ReadersOptions): Readers {
  const { signal, watch, loops: board } = options;
  const logs = workspaces.map((workspace) => ({ workspace, shared: shareLog({ ...options, workspace }) }));
  const following = logs.map(({ shared }) => shared.run(signal));
  const readings = new Map<string, Reading>();

  const add = async (subscription: Subscription): Promise<void> => {
    const removed = new AbortController();
    const either = AbortSignal.any([signal, removed.signal]);
    const selects = compileSelection(subscription);
    const queue = options.queues.of(subscription.name);
    const readers = logs
      .filter(({ workspace }) => readsWorkspace(subscription, workspace))
      .map((log) => new SubscriptionReader({ ...options, ...log, subscription, selects, queue }));
    await Promise.all(readers.map((reader) => reader.begin()));
    const loops = readers.map((reader) =>
      runLoop({
        name: reader.name,
        // The signal of the turn, which also ends a turn that has stalled.
        run: (turn) => reader.turn(turn),
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
        removed.abort();
        await Promise.all(loops);
      },
    });
  };
  const remove = async (name: string): Promise<void> => {
    await readings.get(name)?.stop();
    readings.delete(name);
  };
  const change = async (subscriptions: readonly Subscription[]): Promise<void> => {
    const wanted = new Map(subscriptions.map((one) => [one.name, one]));
    const gone = [...readings.values()].filter(({ subscription: one }) => wanted.get(one.name) !== one);
    await Promise.all(gone.map(({ subscription }) => remove(subscription.name)));
    const added = subscriptions.filter(({ name }) => !readings.has(name));
    if (!signal.aborted) await Promise.all(added.map(add));
  };
  let changing: Promise<void> = Promise.resolve();
  return {
    apply(subscriptions) {
      changing = changing.catch(() => undefined).then(() => change(subscriptions));
      return changing;
    },
    async ended() {
      await changing.catch(() => undefined);
      await Promise.all([...following, ...[...readings.values()].map((reading) => reading.stop())]);
    },
  };
}
