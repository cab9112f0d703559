/**
 * One subscription's reading of one workspace's log: read after the place, select, enter into the lanes, add to the
 * queue, move the place. Each step may be the last before a crash; then all are repeated from the old place:
 *   entered, not added      the repeat finds the event pending and adds it
 *   added, place not moved  the job id is known to the queue, or the event has left its lane: nothing happens twice
 * A slow subscription fills its own queue up to the high-water mark and then stops reading; the log keeps the rest.
 */
import type { Queue } from 'bullmq';
import { parseBeginning } from '../events/log-id.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import { promoteParked } from './parking.js';
import type { Delivery, LogReader, PlaceStore, RecordGate, Standing } from './ports.js';
import { entryOf, jobOptions, laneOf } from './queue-layout.js';
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
  places: PlaceStore;
  gate: RecordGate;
  bell: LogBell;
  clock: Clock;
  /** Pending events of this subscription and workspace above which no more are read. */
  highWater: number;
}

interface Placed {
  delivery: Delivery;
  standing: Standing;
}

export class Pump {
  readonly #options: PumpOptions;
  /** Log id read up to; undefined until asked. After a failure it stands where it stood: the batch may be half done. */
  #place: string | undefined;

  #ahead: { after: string; batch: Promise<readonly LoggedEvent[]> } | undefined;

  constructor(options: PumpOptions) {
    this.#options = options;
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
    const { workspace, subscription, places, gate, bell, highWater } = this.#options;
    const after = await this.begin();
    const rings = bell.rings;
    const { events: pending } = await gate.pending(subscription.name, workspace);
    if (pending >= highWater) return FULL_WAIT_MS;

    const batch = await this.#read(after);
    const last = batch.at(-1);
    if (last === undefined) {
      await bell.waitAfter(rings, signal);
      return 0;
    }
    if (batch.length === BATCH) this.#readAhead(last.logId);
    await this.#deliver(batch);
    await places.set(workspace, subscription.name, last.logId);
    this.#place = last.logId;
    return 0;
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
    const { workspace, subscription, log, places } = this.#options;
    const known = await places.get(workspace, subscription.name);
    if (known !== null) return known;
    const first = parseBeginning(subscription.start) ?? (await log.tail(workspace));
    return places.begin(workspace, subscription.name, first);
  }

  async #deliver(batch: readonly LoggedEvent[]): Promise<void> {
    const { workspace, subscription, selects, queue } = this.#options;
    const deliveries = batch
      .filter(({ event }) => selects(event))
      .map(({ event, logId }) => ({ event, workspace, logId, lane: laneOf({ workspace, event }, subscription) }));
    if (deliveries.length === 0) return;
    const placed = await this.#enter(deliveries);
    const wanted = placed.filter(({ standing }) => standing.standing !== 'left');
    if (wanted.length === 0) return;
    await queue.addBulk(
      wanted.map(({ delivery, standing: { standing } }) => ({
        name: delivery.event.type,
        data: delivery,
        opts: jobOptions(delivery.event.id, { parked: standing === 'behind' }),
      })),
    );
    await this.#wakeHeads(wanted);
  }

  async #enter(deliveries: readonly Delivery[]): Promise<Placed[]> {
    const { workspace, subscription, gate } = this.#options;
    const standings = await gate.enter(subscription.name, workspace, deliveries.map(entryOf));
    return deliveries.flatMap((delivery, index) => {
      const standing = standings[index];
      return standing === undefined ? [] : [{ delivery, standing }];
    });
  }

  /**
   * Between entering and adding, the event ahead may have left: whoever made it leave found no job to promote yet. And
   * in a batch repeated after a crash, the promotion may have been lost with the process.
   */
  async #wakeHeads(added: readonly Placed[]): Promise<void> {
    const behind = added.filter(({ standing }) => standing.standing === 'behind' || !standing.fresh);
    if (behind.length === 0) return;
    const now = await this.#enter(behind.map(({ delivery }) => delivery));
    const heads = now.filter(
      ({ standing }) => standing.standing === 'head' && this.#options.subscription.order === 'record',
    );
    await Promise.all(heads.map(({ delivery }) => promoteParked(this.#options.queue, delivery.event.id)));
  }
}
