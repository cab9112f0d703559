/**
 * Reads one workspace's log for one subscription: read after the offset, select, enter into the ordering groups, add to the
 * queue, store the new offset. A crash can come after each step; then all are repeated from the old offset, and `enqueue`
 * recognises what was done. Backfills (a snapshot, a replay) use the same steps. A slow subscription fills its own queue up
 * to the high-water mark and then stops reading; the log keeps the rest.
 */
import { randomBytes } from 'node:crypto';
import type { Queue } from 'bullmq';
import { BEFORE_ALL, compareLogIds, parseBeginning } from '../events/log-id.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { enqueue } from './enqueue.js';
import type { Delivery, BackfillStore, LogReader, OffsetStore, RecordGate, SnapshotSource } from './ports.js';
import { entryOf, groupOf } from './queues.js';
import { stepReplay } from './replay.js';
import { Snapshot } from './snapshot.js';
import type { LogNotifier } from './shared-log.js';

const BATCH = 250;
/** How soon a full queue is checked again. */
const FULL_WAIT_MS = 100;

export interface ReaderOptions {
  workspace: string;
  subscription: Subscription;
  selects: (event: ChangeEvent) => boolean;
  queue: Queue<Delivery>;
  log: Pick<LogReader, 'read' | 'tail'>;
  offsets: OffsetStore;
  gate: RecordGate;
  backfills: BackfillStore;
  source: SnapshotSource;
  notifier: LogNotifier;
  logger: Log;
  clock: Clock;
  /** Pending events of this subscription and workspace above which no more are read. */
  highWater: number;
}

export class Reader {
  readonly #options: ReaderOptions;
  readonly #snapshot: Snapshot;
  /** Identifies this reader among those that may work on the same replay. */
  readonly #worker = randomBytes(6).toString('hex');
  /** The log id read up to; undefined until `begin`. A failed batch leaves it unchanged, because the batch may be half done. */
  #offset: string | undefined;
  #ahead: { after: string; batch: Promise<readonly LoggedEvent[]> } | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#snapshot = new Snapshot(options);
  }

  get name(): string {
    return `dispatch ${this.#options.workspace} to ${this.#options.subscription.name}`;
  }

  /** Returns the subscription's offset in the log. A new subscription gets its first one. */
  async begin(): Promise<string> {
    return (this.#offset ??= await this.#findOffset());
  }

  /** Queues one batch, or waits for one. Returns how long to wait before the next turn, in ms. */
  async turn(signal: AbortSignal): Promise<number> {
    const { subscription, workspace, notifier } = this.#options;
    const notified = notifier.count;
    const { tasks, after, isFull } = await this.#readState();
    if (isFull) return FULL_WAIT_MS;
    const replayed =
      tasks.size > 0 && (await stepReplay(tasks, workspace, { ...this.#replaying(), worker: this.#worker }));
    if (tasks.size > 0 && (await this.#snapshot.step(tasks, after))) return 0;

    const batch = await this.#read(after);
    const last = batch.at(-1);
    if (last === undefined) {
      if (!replayed) await notifier.waitAfter(notified, signal);
      return 0;
    }
    const uncovered = tasks.size === 0 ? batch : await this.#snapshot.uncovered(batch);
    if (uncovered === null) return 0;
    if (batch.length === BATCH) this.#readAhead(last.logId);
    await this.#enqueue(uncovered);
    await this.#options.offsets.set(workspace, subscription.name, last.logId);
    this.#offset = last.logId;
    return 0;
  }

  /** The tasks are read before the offset: if a task has ended by then, everything it skipped lies before the offset. */
  async #readState(): Promise<{ tasks: ReadonlyMap<string, string>; after: string; isFull: boolean }> {
    const { workspace, subscription, offsets, backfills, gate, highWater } = this.#options;
    const ours = await this.begin();
    const [tasks, stored, { events: pending }] = await Promise.all([
      backfills.tasks(subscription.name),
      offsets.get(workspace, subscription.name),
      gate.pending(subscription.name, workspace),
    ]);
    const after = stored === null ? await this.#startOver() : later(stored, ours);
    this.#offset = after;
    return { tasks, after, isFull: pending >= highWater };
  }

  /** The stored offset is gone, and so was the log: every event in the present log is new, whatever its id. */
  async #startOver(): Promise<string> {
    const { workspace, subscription, offsets, logger } = this.#options;
    logger.warn({ workspace, subscription: subscription.name }, 'log offset lost, reading the log from its beginning');
    await offsets.set(workspace, subscription.name, BEFORE_ALL);
    this.#ahead = undefined;
    return (this.#offset = BEFORE_ALL);
  }

  #replaying() {
    return { ...this.#options, workspaces: [this.#options.workspace] };
  }

  #read(after: string): Promise<readonly LoggedEvent[]> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead?.after === after) return ahead.batch;
    return this.#options.log.read(this.#options.workspace, after, BATCH);
  }

  /** When the subscription is behind, the next batch is fetched while this one is added. */
  #readAhead(after: string): void {
    const batch = this.#options.log.read(this.#options.workspace, after, BATCH);
    // A failure is reported when the batch is used.
    batch.catch(() => undefined);
    this.#ahead = { after, batch };
  }

  async #findOffset(): Promise<string> {
    const { workspace, subscription, log, offsets } = this.#options;
    const known = await offsets.get(workspace, subscription.name);
    if (known !== null) return known;
    if (subscription.start === 'snapshot') await this.#snapshot.begin();
    const first = parseBeginning(subscription.start) ?? (await log.tail(workspace));
    return offsets.begin(workspace, subscription.name, first);
  }

  async #enqueue(batch: readonly LoggedEvent[]): Promise<void> {
    const { workspace, subscription, selects, queue, gate } = this.#options;
    const outgoing = batch
      .filter(({ event }) => selects(event))
      .map(({ event, logId }) => {
        const delivery = { event, workspace, logId, group: groupOf({ workspace, event }, subscription) };
        return { delivery, entry: entryOf(delivery) };
      });
    await enqueue(outgoing, { queue, enter: (entries) => gate.enter(subscription.name, workspace, entries) });
  }
}

function later(a: string, b: string): string {
  return compareLogIds(a, b) > 0 ? a : b;
}
