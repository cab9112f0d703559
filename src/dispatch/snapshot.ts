/**
 * The beginning of a subscription with `start: 'snapshot'`: what every record is now, then what changes.
 *
 *   begin   the task is laid down, then the place in the log: from here on the log keeps what comes
 *   scan    a list's images are read in steps, each together with the end of the log at that very moment, and staged; of
 *           each record the first reading counts, and the log's end at it is noted (`seen`)
 *   send    what is staged goes into the lanes and the queue; only then is the next step read
 *   follow  the log is read from the place on. What the log had told of a record by the time its image was read is in the
 *           image, and passed over; all else is delivered. Behind the end of the last scan nothing is to be looked up.
 *
 * A list without a complete baseline has its turn when it has one; what the log tells of it until then will be in its
 * images. Every step may be repeated after a crash, and be taken by several dispatchers at once: the task moves on by
 * comparison, a record is staged once, an event is entered once.
 */
import { randomBytes } from 'node:crypto';
import type { Queue } from 'bullmq';
import { EVENT_TYPES } from '../events/catalogue.js';
import { listOf } from '../events/envelope.js';
import { BEFORE_ALL, compareLogIds } from '../events/log-id.js';
import { LIST_NAMES, OBJECT_OF, type ListName } from '../events/lists.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import type { Selection, Subscription } from '../handlers/handler.js';
import { compileTypePattern } from '../events/pattern.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { deliver } from './enqueue.js';
import { compileSelection } from './match.js';
import type { Delivery, BackfillStore, RecordGate, ScanPosition, SnapshotSource } from './ports.js';
import { entryOf, groupOf } from './queue-layout.js';

export interface SnapshotOptions {
  workspace: string;
  subscription: Subscription;
  queue: Queue<Delivery>;
  gate: RecordGate;
  backfills: BackfillStore;
  source: SnapshotSource;
  logger: Log;
  clock: Clock;
}

interface SnapshotTask {
  id: string;
  /** Lists whose images are still to be read. */
  left: readonly ListName[];
  /** The list being read, and from where on. */
  reading: { list: ListName; from: ScanPosition | null } | null;
  /** There may be events in the staging. */
  staged: boolean;
  /** Events sent. */
  sent: number;
  /** Log id: what comes after it is in no image. */
  until: string;
  /** When the last scan was taken, ms; null when nothing is remembered of any. */
  scannedAtMs: number | null;
  /** Records of which no image was kept. */
  withoutImage: number;
}

/** A dispatcher that stood still for so long while another finished would miss what was passed over. Minutes are cheap. */
const REMEMBERED_MS = 10 * 60_000;

export class Snapshot {
  readonly #options: SnapshotOptions;
  readonly #name: string;
  readonly #selects: (event: ChangeEvent) => boolean;
  #saidWaiting = false;

  constructor(options: SnapshotOptions) {
    this.#options = options;
    this.#name = taskName(options.workspace);
    // Neither a type nor a class of change is asked of what is no change.
    const { where } = options.subscription;
    this.#selects = compileSelection({ on: ['*'], ...(where && { where }) });
  }

  /** Before the subscription gets its place: the other way round, a crash in between would leave it without its snapshot. */
  async begin(): Promise<void> {
    const { subscription, workspace, backfills: feeds, logger } = this.#options;
    const task: SnapshotTask = {
      id: `s${randomBytes(5).toString('hex')}`,
      left: listsCovered(subscription),
      reading: null,
      staged: false,
      sent: 0,
      until: BEFORE_ALL,
      scannedAtMs: null,
      withoutImage: 0,
    };
    await feeds.begin(subscription.name, this.#name, JSON.stringify(task));
    if (task.left.every((list) => selectsSnapshots(subscription, list))) return;
    const message = 'the snapshot is sent as crm.<object>.snapshot events, although `on` does not name them';
    logger.warn({ subscription: subscription.name, workspace, on: subscription.on }, message);
  }

  /**
   * One step, if there is one to take. False: the log may be read.
   * @param place where the subscription stands in the log
   */
  async step(tasks: ReadonlyMap<string, string>, place: string): Promise<boolean> {
    const text = tasks.get(this.#name);
    if (text === undefined) return false;
    const task = JSON.parse(text) as SnapshotTask;
    if (task.staged) {
      await this.#send(task, text, place);
      return true;
    }
    const reading = task.reading ?? (await this.#nextList(task));
    if (reading !== null) await this.#scan({ ...task, reading }, text);
    else await this.#forget(task, text, place);
    return reading !== null;
  }

  /**
   * Of a batch of the log, what no image has told or will tell; null when a list is being read, and the log must wait.
   * The task is looked at after the batch was read: what is to be scanned by then is scanned later than the batch.
   */
  async untold(batch: readonly LoggedEvent[]): Promise<readonly LoggedEvent[] | null> {
    const { subscription, workspace, backfills: feeds } = this.#options;
    const text = (await feeds.tasks(subscription.name)).get(this.#name);
    if (text === undefined) return batch;
    const { staged, reading, left, scannedAtMs } = JSON.parse(text) as SnapshotTask;
    if (staged || reading !== null) return null;
    const current = batch.filter(({ event }) => !left.some((list) => list === listOf(event)));
    if (scannedAtMs === null) return current;
    const records = current.map(({ event }) => recordOf(listOf(event), event.subject));
    const seen = await feeds.seen(subscription.name, workspace, records);
    return current.filter(({ logId }, index) => {
      const end = seen[index] ?? null;
      return end === null || compareLogIds(logId, end) > 0;
    });
  }

  async #nextList(task: SnapshotTask): Promise<NonNullable<SnapshotTask['reading']> | null> {
    if (task.left.length === 0) return null;
    const { workspace, subscription, source, logger } = this.#options;
    const readiness = await source.readiness(workspace, task.left);
    const ready = task.left.find((list) => ['ready', 'imageless'].includes(readiness.get(list) ?? ''));
    if (ready !== undefined) return { list: ready, from: null };
    const lists = task.left.filter((list) => readiness.get(list) === 'waiting');
    if (lists.length > 0 && !this.#saidWaiting) {
      this.#saidWaiting = true;
      const message = 'the snapshot of these lists waits for their first complete sweep';
      logger.info({ subscription: subscription.name, workspace, lists }, message);
    }
    return null;
  }

  async #scan(task: SnapshotTask & { reading: { list: ListName; from: ScanPosition | null } }, from: string) {
    const { workspace, subscription, source, backfills: feeds, clock } = this.#options;
    const { list } = task.reading;
    const imageless = (await source.readiness(workspace, [list])).get(list) === 'imageless';
    const scan = imageless
      ? { next: null, tail: task.until, records: [], withoutImage: 0 }
      : await source.scan(workspace, list, task.reading.from);
    const next: SnapshotTask = {
      ...task,
      left: scan.next === null ? task.left.filter((one) => one !== list) : task.left,
      reading: scan.next === null ? null : { list, from: scan.next },
      staged: true,
      until: compareLogIds(scan.tail, task.until) > 0 ? scan.tail : task.until,
      scannedAtMs: clock.now(),
      withoutImage: task.withoutImage + scan.withoutImage,
    };
    const moved = await feeds.stage(subscription.name, workspace, {
      name: this.#name,
      from,
      to: JSON.stringify(next),
      tail: scan.tail,
      records: scan.records.map(({ key, event }) => ({
        record: recordOf(list, key),
        event: event !== null && this.#selects(event) ? event : null,
      })),
    });
    if (moved && scan.next === null) this.#tellListRead(list, { imageless, withoutImage: next.withoutImage });
  }

  #tellListRead(list: ListName, { imageless, withoutImage }: { imageless: boolean; withoutImage: number }): void {
    const { subscription, workspace, logger } = this.#options;
    const facts = { subscription: subscription.name, workspace, list };
    if (imageless) {
      logger.warn(
        facts,
        'this list keeps no images (images: false): a snapshot cannot tell its records, only changes come',
      );
    } else if (withoutImage > 0) {
      logger.warn({ ...facts, withoutImage }, 'of some records no image is kept: the snapshot leaves them out');
    } else {
      logger.info(facts, 'the snapshot of a list is read');
    }
  }

  async #send(task: SnapshotTask, from: string, place: string): Promise<void> {
    const { workspace, subscription, queue, gate, backfills: feeds } = this.#options;
    const events = (await feeds.staged(subscription.name, workspace)).map((json) => JSON.parse(json) as ChangeEvent);
    const outgoing = events.map((event, index) => {
      const lane = groupOf({ workspace, event }, subscription);
      const delivery: Delivery = { event, workspace, logId: place, group: lane, snapshot: true };
      return { delivery, entry: { ...entryOf(delivery), mark: String(task.sent + index).padStart(12, '0') } };
    });
    await deliver(outgoing, { queue, enter: (entries) => gate.enterBackfill(subscription.name, task.id, entries) });
    const to = JSON.stringify({ ...task, staged: false, sent: task.sent + events.length } satisfies SnapshotTask);
    await feeds.unstage(subscription.name, workspace, { name: this.#name, from, to });
  }

  /** Once the log is read beyond the last scan, what was seen need not be known any more. */
  async #forget(task: SnapshotTask, from: string, place: string): Promise<void> {
    const { workspace, subscription, backfills: feeds, clock } = this.#options;
    const { left, until, scannedAtMs } = task;
    if (scannedAtMs === null && left.length > 0) return;
    if (compareLogIds(place, until) < 0 || clock.now() - (scannedAtMs ?? 0) < REMEMBERED_MS) return;
    await feeds.forgetSeen(subscription.name, workspace);
    const rest: SnapshotTask = { ...task, scannedAtMs: null };
    await feeds.move(subscription.name, {
      name: this.#name,
      from,
      to: left.length === 0 ? null : JSON.stringify(rest),
    });
  }
}

/** Is there still something of a snapshot to be read and sent? A list that waits for its baseline is not waited for. */
export async function isSnapshotUnderWay(
  { subscription, workspace }: { subscription: string; workspace: string },
  { backfills: feeds, source }: Pick<SnapshotOptions, 'backfills' | 'source'>,
): Promise<boolean> {
  const text = (await feeds.tasks(subscription)).get(taskName(workspace));
  if (text === undefined) return false;
  const { staged, reading, left } = JSON.parse(text) as SnapshotTask;
  if (staged || reading !== null) return true;
  const readiness = await source.readiness(workspace, left);
  return [...readiness.values()].includes('ready');
}

function taskName(workspace: string): string {
  return `snapshot ${workspace}`;
}

function recordOf(list: ListName | undefined, key: string): string {
  return `${list ?? '-'} ${key}`;
}

/** Whoever wants to hear anything of a list's records hears what they are. */
function listsCovered({ lists, on }: Selection): ListName[] {
  const wanted = on.map(compileTypePattern);
  return LIST_NAMES.filter((list) => {
    if (lists !== undefined && !lists.includes(list)) return false;
    return typesOf(list).some((type) => wanted.some((matches) => matches(type)));
  });
}

function selectsSnapshots({ on }: Selection, list: ListName): boolean {
  return on.some((pattern) => compileTypePattern(pattern)(`crm.${OBJECT_OF[list]}.snapshot`));
}

function typesOf(list: ListName): string[] {
  return EVENT_TYPES.filter((type) => type.startsWith(`crm.${OBJECT_OF[list]}.`));
}
