/** What the dispatcher uses of Redis. */
import type { AllowanceStore } from '../state/allowance.js';
import type { BackfillStore } from '../state/backfills.js';
import type { EventLog } from '../state/event-log.js';
import type { RecordGate } from '../state/gate.js';
import type { HealthStore } from '../state/health.js';
import type { OffsetStore } from '../state/offsets.js';
import type { ReceiptStore } from '../state/receipts.js';
import type { SnapshotSource } from '../state/snapshot-source.js';
import type { WaitingStore } from '../state/waiting.js';

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
