/** Parts of a fan-out for tests: events, subscriptions, the options of dispatcher and handlers. */
import type { Redis } from '../../src/redis/client.js';
import type { Surroundings } from '../../src/delivery/run/attempt.js';
import type { DispatcherOptions } from '../../src/delivery/dispatcher.js';
import type { HandlerPoolOptions } from '../../src/delivery/run/handler-pool.js';
import { compileRules } from '../../src/feed/detect/rules.js';
import { builtInLists, type BuiltInList } from '../../src/crm/lists/lists.js';
import type { Handle, Subscription } from '../../src/delivery/handlers/handler.js';
import { systemClock } from '../../src/kit/clock.js';
import { createUnfinished } from '../../src/kit/unfinished.js';
import { silentLog } from '../../src/kit/log.js';
import type { RecordGate } from '../../src/delivery/groups/gate.js';
import type { Keys } from '../../src/redis/keys.js';
import { createLogReader } from '../../src/log/event-log.js';
import { createDeliveryStores } from '../../src/delivery/stores.js';
import { createListStates } from '../../src/feed/store/list-states.js';
import { createSnapshotSource } from '../../src/feed/store/snapshot-source.js';
import { appendEvents, changeEvent, WORKSPACE } from './events.js';

export function aSubscription(name: string, handle: Handle, changes: Partial<Subscription> = {}): Subscription {
  return {
    name,
    handler: 'custom',
    on: ['crm.*'],
    concurrency: 10,
    order: 'record',
    retry: { attempts: 10, delayMs: 10, maxDelayMs: 50 },
    whenDead: 'release',
    timeoutMs: 10_000,
    lateAfterMs: 300_000,
    start: 'beginning',
    handle,
    ...changes,
  };
}

/**
 * Appends events of these records, with a sequence that grows by one, until it is ended.
 * @param paced awaited after each round, so that events are not made much faster than they are handled
 * @returns ends the load; resolves to the last sequence
 */
export function eventLoad(
  { redis, keys }: { redis: Redis; keys: Keys },
  records: readonly string[],
  paced: (sequence: number) => Promise<void> = () => Promise.resolve(),
): () => Promise<number> {
  let isEnded = false;
  const running = (async () => {
    let sequence = 0;
    while (!isEnded) {
      sequence += 1;
      const events = records.map((record) => changeEvent({ record, sequence }));
      await appendEvents({ redis, keys }, events);
      await paced(sequence);
    }
    return sequence;
  })();
  return async () => {
    isEnded = true;
    return await running;
  };
}

export interface FanOutParts {
  redis: Redis;
  keys: Keys;
  connect: (options: { maxRetriesPerRequest: null }) => Redis;
}

/** Of a workspace without links and records. */
export const NO_SURROUNDINGS: Surroundings = {
  data: {},
  language: 'en',
  timeZone: 'Asia/Seoul',
  lists: builtInLists,
  links: new Map(),
  people: {},
  comparisonOf: () => undefined,
  pageOf: () => null,
  mutes: { isMuted: () => Promise.resolve(false), all: () => Promise.resolve([]) },
  record: () => Promise.resolve(null),
};

export function fanOutDeps({ redis, keys, ...parts }: FanOutParts): DispatcherOptions & HandlerPoolOptions {
  const connect = (): Redis => parts.connect({ maxRetriesPerRequest: null });
  const list = (_workspace: string, name: string) => ({
    enabled: true,
    rules: compileRules(name as BuiltInList, {}),
  });
  return {
    connect,
    keys,
    log: createLogReader({ redis, keys, connect }),
    ...createDeliveryStores({ redis, keys }),
    source: createSnapshotSource({ redis, keys, clock: systemClock, list }),
    states: createListStates({ redis, keys, clock: systemClock, list }),
    surroundingsOf: () => NO_SURROUNDINGS,
    subscriptions: [],
    workspaces: [WORKSPACE],
    timeZoneOf: () => 'Asia/Seoul',
    configReadAtMs: systemClock.monotonic(),
    logger: silentLog,
    clock: systemClock,
    watch: { untilUsable: () => Promise.resolve(), onWritable: () => () => undefined },
    loops: new Map(),
    unfinished: createUnfinished(),
  };
}

/** The control: a gate that lets every event run at once. With it, tests of order must fail. */
export const openGate = ({ redis, keys }: Pick<FanOutParts, 'redis' | 'keys'>): RecordGate => ({
  async enter(subscription, { source, entries }) {
    const last = entries.at(-1);
    if (last !== undefined) await redis.set(keys.entered(subscription, source), last.serial);
    return { heads: entries.map(() => true), pending: 0 };
  },
  standing: (_subscription, { id }) =>
    Promise.resolve({
      outcome: 'head',
      entries: [{ id, logId: '', atMs: 0, kind: 'logged', type: '' }],
      lockedForMs: 0,
    }),
  advance: () => Promise.resolve({ outcome: 'left', next: null }),
  handled: () => Promise.resolve({ outcome: 'left', next: null }),
  drop: () => Promise.resolve({ outcome: 'left', next: null }),
  failed: () => Promise.resolve({ outcome: 'head' }),
  hold: () => Promise.resolve({ outcome: 'held' }),
  merge: () => Promise.resolve({ outcome: 'head' }),
  skip: () => Promise.resolve({ outcome: 'dropped', dropped: [], next: null }),
  lastEntered: () => Promise.resolve(null),
  removeLetter: () => Promise.resolve(true),
  pendingIds: () => Promise.resolve([]),
  stored: () => Promise.resolve(null),
  pending: () => Promise.resolve({ events: 0, oldest: null, oldestMs: null, oldestId: null }),
  heads: () => Promise.resolve([]),
  delayedTooFar: () => Promise.resolve([]),
});

export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
