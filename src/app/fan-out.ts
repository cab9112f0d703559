/** The wiring of the fan-out: dispatcher, handlers and operations over one set of subscriptions, which may become another. */
import { changedWorkspaces, sectionsThatDiffer, type Section } from '../config/compare.js';
import type { Config, WorkspaceConfig } from '../config/schema.js';
import { logConfigWarnings } from './config-warnings.js';
import { createDispatcher, type Dispatcher } from '../dispatch/dispatcher.js';
import { createHandlerPool, type HandlerPool } from '../dispatch/handler-pool.js';
import { createOperations, type Operations } from '../dispatch/operations.js';
import type { LogReader, SnapshotSource } from '../dispatch/ports.js';
import { compareRosters } from '../dispatch/roster.js';
import { derivingSubscription } from '../handlers/derive.js';
import type { Subscription } from '../handlers/handler.js';
import type { House } from './context.js';
import { appendOnce } from '../state/derived-log.js';
import { RedisFeedStore } from '../state/feeds.js';
import { RedisRecordGate } from '../state/gate.js';
import { RedisHealthStore } from '../state/health.js';
import { RedisOnceStore } from '../state/once.js';
import { RedisPlaceStore } from '../state/places.js';
import { createSnapshotSource } from '../state/snapshot-source.js';
import type { Sweeper } from './sweeper.js';

/** What a reload did: names of subscriptions. */
export interface Reloaded {
  added: readonly string[];
  changed: readonly string[];
  removed: readonly string[];
  /** Workspaces whose options changed. */
  workspaces: readonly string[];
  /** Sections of the configuration that differ too, and take effect only when the process is started anew. */
  needsRestart: readonly Section[];
}

export interface FanOut {
  dispatcher: Dispatcher;
  pool: HandlerPool;
  operations: Operations;
  /** Takes over the subscriptions of another configuration; calls at the same time one after the other. */
  reload(next: Config): Promise<Reloaded>;
  /** The subscriptions as they are by now, derive functions among them. */
  readonly subscriptions: readonly Subscription[];
  /** Resolves when no reload is under way. */
  settled(): Promise<void>;
}

export interface FanOutDeps {
  logReader: LogReader;
  sweeper: Sweeper;
  /** From here on a workspace is polled with these options. */
  applyWorkspace: (workspace: WorkspaceConfig) => Promise<void>;
}

export function createFanOut(house: House, { logReader, sweeper, applyWorkspace }: FanOutDeps): FanOut {
  const { config, current } = house;
  const parts = partsOf(house);
  const reading = {
    log: logReader,
    places: new RedisPlaceStore(house.redis, house.keys),
    feeds: new RedisFeedStore(house.redis, house.keys),
    source: snapshotSource(house, sweeper),
    workspaces: config.workspaces.map(({ name }) => name),
  };
  const dispatcher = createDispatcher({ ...parts, ...reading });
  const operations = createOperations({ ...parts, ...reading });
  const pool = createHandlerPool({
    ...parts,
    deadLetters: deadLetterRetention(config),
    // Of a workspace that the configuration no longer names, events may still be queued.
    comparisonOf: (workspace, list) =>
      reading.workspaces.includes(workspace) ? sweeper.view(list, workspace).rules : undefined,
  });
  let subscriptions: readonly Subscription[] = parts.subscriptions;
  let reloading: Promise<unknown> = Promise.resolve();

  const takeOver = async (next: Config): Promise<Reloaded> => {
    const { subscriptions: roster, ...names } = compareRosters(subscriptions, subscribersOf(next, house));
    subscriptions = roster;
    operations.apply(roster);
    // Nobody who reads waits for a handler to finish.
    await Promise.all([dispatcher.apply(roster), pool.apply(roster)]);
    const changed = changedWorkspaces(current.workspaces, next.workspaces);
    current.workspaces = current.workspaces.map((one) => changed.find(({ name }) => name === one.name) ?? one);
    await Promise.all(changed.map(applyWorkspace));
    // Everything else stays as it was: what was taken over is checked against that.
    const { workspaces } = current;
    logConfigWarnings(house.log, { ...config, workspaces, subscriptions: next.subscriptions, derive: next.derive }, [
      'subscription',
    ]);
    const needsRestart = sectionsThatDiffer({ ...config, workspaces }, next);
    return { ...names, workspaces: changed.map(({ name }) => name), needsRestart };
  };
  return {
    dispatcher,
    operations,
    pool,
    get subscriptions() {
      return subscriptions;
    },
    reload(next) {
      const taken = reloading.catch(() => undefined).then(() => takeOver(next));
      reloading = taken;
      return taken;
    },
    async settled() {
      await reloading.catch(() => undefined);
    },
  };
}

/** All who read the log: the subscriptions, and the derive functions as such. */
function subscribersOf({ subscriptions, derive }: Config, house: House): Subscription[] {
  return [...subscriptions, ...derive.map((one) => derivingSubscription(one, (...call) => appendOnce(house, ...call)))];
}

export function partsOf(house: House) {
  const { config, keys, connect, redis, log, clock, watch, unfinished, loops } = house;
  return {
    subscriptions: subscribersOf(config, house),
    keys,
    connect,
    gate: new RedisRecordGate(redis, keys),
    once: new RedisOnceStore(redis, keys),
    health: new RedisHealthStore(redis, keys),
    logger: log,
    clock,
    watch,
    loops,
    unfinished,
  };
}

function snapshotSource({ current, redis, keys, clock }: House, sweeper: Sweeper): SnapshotSource {
  return createSnapshotSource({
    redis,
    keys,
    clock,
    list(workspace, list) {
      const { rules } = sweeper.view(list, workspace);
      const { enabled, images } = current.workspaces.find(({ name }) => name === workspace)?.lists[list] ?? {
        enabled: false,
        images: false,
      };
      return { enabled, images, rules };
    },
  });
}

function deadLetterRetention({ deadLetters: { retention } }: Config): { ageMs: number; events?: number } {
  return { ageMs: retention.ageMs, ...(retention.count === null ? {} : { events: retention.count }) };
}
