/** Runs one reader per subscription and workspace, each in its own loop. The set of subscriptions can change while they run. */
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { runLoop, type LoopBoard } from '../runtime/loop.js';
import type { RedisUse } from '../redis/watch.js';
import { compileSelection, readsWorkspace } from './match.js';
import type { DispatchStores } from './ports.js';
import type { Queues } from './queues.js';
import { SubscriptionReader } from './reader.js';
import { shareLog } from './shared-log.js';
import { keepParts, type SubscriptionPart, type SubscriptionParts } from './subscription-parts.js';

export interface ReadersOptions extends DispatchStores {
  workspaces: readonly string[];
  queues: Queues;
  highWater: number;
  logger: Log;
  clock: Clock;
  watch?: RedisUse | undefined;
  loops?: LoopBoard | undefined;
  /** Ends all readers. */
  signal: AbortSignal;
}

export interface Readers {
  /** As `SubscriptionParts.apply`: new subscriptions have their offsets then. */
  apply: SubscriptionParts<SubscriptionPart>['apply'];
  /** Resolves when all readers have ended. */
  ended(): Promise<void>;
}

export function startReaders({ workspaces, ...options }: ReadersOptions): Readers {
  const { signal, watch, loops } = options;
  const logs = workspaces.map((workspace) => ({ workspace, shared: shareLog({ ...options, workspace }) }));
  const following = logs.map(({ shared }) => shared.run(signal));

  const create = (subscription: Subscription): SubscriptionPart => {
    const removed = new AbortController();
    const either = AbortSignal.any([signal, removed.signal]);
    const selects = compileSelection(subscription);
    const queue = options.queues.of(subscription.name);
    const readers = logs
      .filter(({ workspace }) => readsWorkspace(subscription, workspace))
      .map((log) => new SubscriptionReader({ ...options, ...log, subscription, selects, queue }));
    const run = (reader: SubscriptionReader): Promise<void> =>
      runLoop({
        name: reader.name,
        // The signal of the turn, which also ends a turn that has stalled.
        run: (turn) => reader.turn(turn),
        ...(watch && { ready: (within) => watch.untilUsable(within) }),
        signal: either,
        log: options.logger,
        clock: options.clock,
        ...(loops && { loops }),
      });
    let starting: Promise<void> | undefined;
    let running: readonly Promise<void>[] = [];
    const start = async (): Promise<void> => {
      await Promise.all(readers.map((reader) => reader.begin()));
      running = readers.map(run);
    };
    return {
      subscription,
      start: () => (starting ??= start()),
      async stop() {
        removed.abort();
        await starting?.catch(() => undefined);
        await Promise.all(running);
      },
    };
  };
  const parts = keepParts(create);
  return {
    apply: (subscriptions) => parts.apply(subscriptions),
    async ended() {
      await Promise.all([...following, ...parts.end().map((part) => part.stop())]);
    },
  };
}
