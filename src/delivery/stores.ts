/** What the dispatcher uses of Redis. */
import type { AllowanceStore } from './allowance.js';
import type { BackfillStore } from './backfills.js';
import type { EventLog } from '../log/event-log.js';
import type { RecordGate } from './groups/gate.js';
import type { HealthStore } from './health.js';
import type { OffsetStore } from './offsets.js';
import type { ReceiptStore } from './receipts/receipts.js';
import type { SnapshotSource } from '../feed/store/snapshot-source.js';
import type { WaitingStore } from './waiting.js';

export interface DispatchStores {
  log: EventLog;
  offsets: OffsetStore;
  gate: RecordGate;
  backfills: BackfillStore;
  source: SnapshotSource;
  health: HealthStore;
  allowance: AllowanceStore;
  receipts: ReceiptStore;
  waiting: WaitingStore;
}
