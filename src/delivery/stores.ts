/** What delivery keeps in Redis, and what its questions and commands are given. */
import type { Queue } from 'bullmq';
import type { ListStates } from '../feed/store/list-states.js';
import type { SnapshotSource } from '../feed/store/snapshot-source.js';
import type { Clock } from '../kit/clock.js';
import type { Log } from '../kit/log.js';
import type { LoopBoard } from '../kit/loop.js';
import type { EventLog } from '../log/event-log.js';
import type { Redis } from '../redis/client.js';
import type { Keys } from '../redis/keys.js';
import type { RedisUse } from '../redis/watch.js';
import { createAllowanceStore } from './run/allowance.js';
import { createPaceStore } from './run/pace.js';
import { createBackfillStore } from './act/backfills.js';
import { createRecordGate } from './groups/gate.js';
import type { Subscription } from './handlers/handler.js';
import { createHealthStore } from './health.js';
import { createOffsetStore } from './offsets.js';
import { createOnceStore } from './run/once.js';
import type { JobData } from './queues.js';
import { createReceiptStore } from './receipts/receipts.js';
import { createVerifiedStore } from './verify/verified-store.js';
import { createBatchStore } from './pull/batches.js';
import { createWaitingStore } from './waiting.js';

// Written out: the compiler cannot name in a declaration what the stores do not export.
export interface DeliveryStores {
  offsets: ReturnType<typeof createOffsetStore>;
  gate: ReturnType<typeof createRecordGate>;
  allowance: ReturnType<typeof createAllowanceStore>;
  pace: ReturnType<typeof createPaceStore>;
  backfills: ReturnType<typeof createBackfillStore>;
  health: ReturnType<typeof createHealthStore>;
  receipts: ReturnType<typeof createReceiptStore>;
  waiting: ReturnType<typeof createWaitingStore>;
  batches: ReturnType<typeof createBatchStore>;
  once: ReturnType<typeof createOnceStore>;
  verified: ReturnType<typeof createVerifiedStore>;
}

export function createDeliveryStores({ redis, keys }: { redis: Redis; keys: Keys }): DeliveryStores {
  return {
    offsets: createOffsetStore(redis, keys),
    gate: createRecordGate(redis, keys),
    allowance: createAllowanceStore(redis, keys),
    pace: createPaceStore(redis, keys),
    backfills: createBackfillStore(redis, keys),
    health: createHealthStore(redis, keys),
    receipts: createReceiptStore(redis, keys),
    waiting: createWaitingStore(redis, keys),
    batches: createBatchStore(redis, keys),
    once: createOnceStore(redis, keys),
    verified: createVerifiedStore(redis, keys),
  };
}

export interface DispatchContext extends DeliveryStores {
  log: EventLog;
  /** The stored records, for snapshots. */
  source: SnapshotSource;
  /** The same one by one, to compare them with a copy. */
  states: ListStates;
  subscriptions: readonly Subscription[];
  workspaces: readonly string[];
  timeZoneOf: (workspace: string) => string;
  /** When the configuration was read, by the monotonic clock: a subscription with `start: 'now'` begins at this moment of the log. */
  configReadAtMs: number;
  logger: Log;
  clock: Clock;
  /** Reading waits while Redis cannot be used. */
  watch: RedisUse;
  loops: LoopBoard;
}

export interface SubscriptionContext extends DispatchContext {
  subscription: Subscription;
  queue: Queue<JobData>;
}
