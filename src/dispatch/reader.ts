/**
 * One subscription's reading of one workspace's log: read after the place, select, enter into the lanes, add to the
 * queue, move the place. Each step may be the last before a crash; then all are repeated from the old place, and what was
 * done is known as done (see `deliver`). What is to be sent beside the log (a snapshot, a replay) goes the same way.
 * A slow subscription fills its own queue up to the high-water mark and then stops reading; the log keeps the rest.
 */
import { randomBytes } from 'node:crypto';
import type { Queue } from 'bullmq';
import { BEFORE_ALL, compareLogIds, parseBeginning } from '../events/log-id.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { deliver } from './enqueue.js';
import type { Delivery, BackfillStore, LogReader, OffsetStore, RecordGate, SnapshotSource } from './ports.js';
import { entryOf, groupOf } from './queue-layout.js';
import { stepReplay } from './replay.js';
import { Snapshot } from './snapshot.js';
import type { LogBell } from './wake.js';

const BATCH = 250;
/** How soon a full queue is looked at again. */
const FULL_WAIT_MS = 100;

export interface PumpOptions {
  workspace: string;
  subscription: Subscription;
  selects: (event: ChangeEvent) => boolean;
  queue: Queue<Delivery>;
  log: Pick<LogReader, 'read' | 'tail'>;
  offsets: OffsetStore;
  gate: RecordGate;
  backfills: BackfillStore;
  source: SnapshotSource;
  bell: LogBell;
  logger: Log;
  clock: Clock;
  /** Pending events of this subscription and workspace above which no more are read. */
  highWater: number;
}

export class Pump {
  readonly #options: PumpOptions;
  readonly #snapshot: Snapshot;
  /** Tells this one from other dispatchers at work on the same replay. */
  readonly #worker = randomBytes(6).toString('hex');
  /** Log id read up to; undefined until asked. After a failure it stands where it stood: the batch may be half done. */
  #place: string | undefined;

  #ahead: { after: string; batch: Promise<readonly LoggedEvent[]> } | undefined;

  constructor(options: PumpOptions) {
    this.#options = options;
    this.#snapshot = new Snapshot(options);
  }

  get name(): string {
    return `dispatch ${this.#options.workspace} to ${this.#options.subscription.name}`;
  }

  /** Finds the subscription's place in the log; a new subscription is given its first. */
  async begin(): Promise<string> {
    return (this.#place ??= await this.#findPlace());
  }

  /** One batch, or a wait for one. Answers how long to wait before the next turn, in ms. */
  async turn(signal: AbortSignal): Promise<number> {
    const { subscription, workspace, bell } = this.#options;
    const rings = bell.rings;
    const { tasks, after, isFull } = await this.#look();
    if (isFull) return FULL_WAIT_MS;
    const replayed =
      tasks.size > 0 && (await stepReplay(tasks, workspace, { ...this.#replaying(), worker: this.#worker }));
    if (tasks.size > 0 && (await this.#snapshot.step(tasks, after))) return 0;

    const batch = await this.#read(after);
    const last = batch.at(-1);
    if (last === undefined) {
      if (!replayed) await bell.waitAfter(rings, signal);
      return 0;
    }
    const untold = tasks.size === 0 ? batch : await this.#snapshot.untold(batch);
    if (untold === null) return 0;
    if (batch.length === BATCH) this.#readAhead(last.logId);
    await this.#deliver(untold);
    await this.#options.offsets.set(workspace, subscription.name, last.logId);
    this.#place = last.logId;
    return 0;
  }

  /** The tasks first: one that is over was over when the place is read, and what it passed over lies before the place. */
  async #look(): Promise<{ tasks: ReadonlyMap<string, string>; after: string; isFull: boolean }> {
    const { workspace, subscription, offsets: places, backfills: feeds, gate, highWater } = this.#options;
    const ours = await this.begin();
    const [tasks, stored, { events: pending }] = await Promise.all([
      feeds.tasks(subscription.name),
      places.get(workspace, subscription.name),
      gate.pending(subscription.name, workspace),
    ]);
    const after = stored === null ? await this.#startOver() : later(stored, ours);
    this.#place = after;
    return { tasks, after, isFull: pending >= highWater };
  }

  /** The position has gone, and the log with it: everything in the present log is new, whatever its ids. */
  async #startOver(): Promise<string> {
    const { workspace, subscription, offsets: places, logger } = this.#options;
    logger.warn(
      { workspace, subscription: subscription.name },
      'log position lost; reading the log from its beginning',
    );
    await places.set(workspace, subscription.name, BEFORE_ALL);
    this.#ahead = undefined;
    return (this.#place = BEFORE_ALL);
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

  /** With much to catch up on, the next batch is fetched while this one is added. */
  #readAhead(after: string): void {
    const batch = this.#options.log.read(this.#options.workspace, after, BATCH);
    // Whether it failed is of interest when it is asked for, if ever.
    batch.catch(() => undefined);
    this.#ahead = { after, batch };
  }

  async #findPlace(): Promise<string> {
    const { workspace, subscription, log, offsets: places } = this.#options;
    const known = await places.get(workspace, subscription.name);
    if (known !== null) return known;
    if (subscription.start === 'snapshot') await this.#snapshot.begin();
    const first = parseBeginning(subscription.start) ?? (await log.tail(workspace));
    return places.begin(workspace, subscription.name, first);
  }

  async #deliver(batch: readonly LoggedEvent[]): Promise<void> {
    const { workspace, subscription, selects, queue, gate } = this.#options;
    const outgoing = batch
      .filter(({ event }) => selects(event))
      .map(({ event, logId }) => {
        const delivery = { event, workspace, logId, group: groupOf({ workspace, event }, subscription) };
        return { delivery, entry: entryOf(delivery) };
      });
    await deliver(outgoing, { queue, enter: (entries) => gate.enter(subscription.name, workspace, entries) });
  }
}

function later(a: string, b: string): string {
  return compareLogIds(a, b) > 0 ? a : b;
}
