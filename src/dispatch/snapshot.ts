/**
 * The start of a subscription with `start: 'snapshot'`: first the current state of every record, then the changes.
 *
 *   begin   The task is stored, then the offset: from then on the log keeps new events for the subscription.
 *   scan    The images of a list are read in steps and staged, each step together with the end of the log at that moment.
 *           Only the first read of each record counts, and the end of the log at that read is stored (`imagesReadAt`).
 *   send    The staged events are entered and queued. Only then is the next step read.
 *   follow  The log is read from the offset on. Events of a record that were logged before its image was read are in the
 *           image and are skipped; all others are delivered. After the end of the last scan, no lookup is needed.
 *
 * A list without a complete baseline is read once it has one. Until then its logged events are skipped, because its images
 * will contain them. Every step can be repeated after a crash and run in several dispatchers at once: the task changes by
 * compare-and-set, a record is staged once, and an event is entered once.
 */
import { randomBytes } from 'node:crypto';
import type { Queue } from 'bullmq';
import { typesOf } from '../events/catalogue.js';
import { listOf } from '../events/envelope.js';
import { BEFORE_ALL, compareLogIds } from '../events/log-id.js';
import { builtInLists, type ListName } from '../crm/lists/lists.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import type { SnapshotTask } from './backfill-task.js';
import { enqueueEvents } from './deliveries.js';
import { compileSelection, compileTypePattern, type Selection } from '../events/pattern.js';
import type { DispatchStores, JobData, StoredTask } from './ports.js';

export interface SnapshotOptions extends DispatchStores {
  workspace: string;
  subscription: Subscription;
  queue: Queue<JobData>;
  logger: Log;
  clock: Clock;
}

type StoredSnapshot = StoredTask<SnapshotTask>;

export class Snapshot {
  readonly #options: SnapshotOptions;
  readonly #selects: (event: ChangeEvent) => boolean;

  constructor(options: SnapshotOptions) {
    this.#options = options;
    // A snapshot event is no change: the type, class and fields of a change do not apply to it.
    const { where } = options.subscription;
    this.#selects = compileSelection({ on: ['*'], ...(where && { where }) });
  }

  async stored(): Promise<StoredSnapshot | undefined> {
    const { backfills, subscription, workspace } = this.#options;
    return snapshotIn(await backfills.tasks(subscription.name), workspace);
  }

  /**
   * Called before the subscription gets its offset: in the other order, a crash in between would lose the snapshot.
   * @param outdated the stored task, read before it was known that there is no offset: it is from an earlier life of the subscription
   */
  async begin(outdated: StoredSnapshot | undefined): Promise<void> {
    const { subscription, workspace, backfills } = this.#options;
    const [id, unread] = [`s${randomBytes(5).toString('hex')}`, listsCovered(subscription)];
    const progress = { reading: null, staged: false, sent: 0, until: BEFORE_ALL, withoutImage: 0 };
    const task: SnapshotTask = { kind: 'snapshot', id, workspace, unread, ...progress };
    if (outdated === undefined) await backfills.begin(subscription.name, task);
    else await backfills.step(subscription.name, outdated, { to: task, staged: 'discarded' });
  }
  /**
   * Takes one step if there is one. False: the log may be read.
   * @param offset the subscription's offset in the log
   */
  async step(tasks: readonly StoredTask[], offset: string): Promise<boolean> {
    const stored = snapshotIn(tasks, this.#options.workspace);
    if (stored === undefined) return false;
    if (stored.task.staged) {
      await this.#send(stored, offset);
      return true;
    }
    const reading = stored.task.reading ?? (await this.#nextList(stored.task));
    if (reading !== null) await this.#scan(stored, reading);
    else await this.#forget(stored, offset);
    return reading !== null;
  }

  /**
   * The events of a batch that no image contains or will contain; null when a list is being read and the log must wait.
   * The task is read after the batch: lists that are still to be scanned then are scanned later than the batch was read.
   */
  async uncovered(batch: readonly LoggedEvent[]): Promise<readonly LoggedEvent[] | null> {
    const { subscription, workspace, backfills } = this.#options;
    const stored = await this.stored();
    if (stored === undefined) return batch;
    const { staged, reading, unread, until } = stored.task;
    if (staged || reading !== null) return null;
    const { catalogue } = subscription;
    const current = batch.filter(({ event }) => !unread.some((list) => list === listOf(event, catalogue)));
    if (until === BEFORE_ALL) return current;
    const records = current.map(({ event }) => recordOf(listOf(event, catalogue), event.subject));
    const readAt = await backfills.imagesReadAt(subscription.name, workspace, records);
    return current.filter(({ logId }, index) => {
      const end = readAt[index] ?? null;
      return end === null || compareLogIds(logId, end) > 0;
    });
  }

  async #nextList({ unread }: SnapshotTask): Promise<SnapshotTask['reading']> {
    if (unread.length === 0) return null;
    const { workspace, source } = this.#options;
    const readiness = await source.readiness(workspace, unread);
    const ready = unread.find((list) => ['ready', 'imageless'].includes(readiness.get(list) ?? ''));
    return ready === undefined ? null : { list: ready, from: null };
  }

  async #scan(stored: StoredSnapshot, { list, from }: NonNullable<SnapshotTask['reading']>): Promise<void> {
    const { workspace, subscription, source, backfills, logger } = this.#options;
    const { task } = stored;
    const imageless = (await source.readiness(workspace, [list])).get(list) === 'imageless';
    const scan = imageless
      ? { next: null, tail: task.until, records: [], withoutImage: 0 }
      : await source.scan(workspace, list, from);
    const to: SnapshotTask = {
      ...task,
      unread: scan.next === null ? task.unread.filter((one) => one !== list) : task.unread,
      reading: scan.next === null ? null : { list, from: scan.next },
      staged: true,
      until: compareLogIds(scan.tail, task.until) > 0 ? scan.tail : task.until,
      withoutImage: task.withoutImage + scan.withoutImage,
    };
    const records = scan.records.map(({ key, event }) => ({
      record: recordOf(list, key),
      event: event !== null && this.#selects(event) ? event : null,
    }));
    const moved = await backfills.step(subscription.name, stored, { to, staged: { tail: scan.tail, records } });
    if (!moved || scan.next !== null) return;
    const facts = { subscription: subscription.name, workspace, list };
    if (imageless) {
      logger.warn(facts, 'list stores no images (images: false): it has no snapshot, only its changes are delivered');
    } else if (to.withoutImage > 0) {
      const missing = { ...facts, withoutImage: to.withoutImage };
      logger.warn(missing, 'records without a stored image are missing in the snapshot');
    } else {
      logger.info(facts, 'snapshot of a list read');
    }
  }

  async #send(stored: StoredSnapshot, offset: string): Promise<void> {
    const { workspace, subscription, backfills } = this.#options;
    const { task } = stored;
    const logId = offset === BEFORE_ALL ? '0-0' : offset;
    const events = (await backfills.staged(subscription.name, workspace)).map((event, index) => ({
      ...{ event, logId, serial: `${task.sent + index + 1}-0`, stored: { event } },
    }));
    await enqueueEvents(events, { ...this.#options, origin: task.id, readAt: stored }, this.#options);
    const to = { ...task, staged: false, sent: task.sent + events.length };
    await backfills.step(subscription.name, stored, { to, staged: 'sent' });
  }

  /**
   * Deletes when each image was read, once the log has been read beyond the last scan. A dispatcher that has read a batch before then enters none of
   * it: the offset has moved.
   */
  async #forget(stored: StoredSnapshot, offset: string): Promise<void> {
    const { workspace, subscription, backfills } = this.#options;
    const { unread, until } = stored.task;
    if (until === BEFORE_ALL && unread.length > 0) return;
    if (compareLogIds(offset, until) < 0) return;
    await backfills.forgetImagesRead(subscription.name, workspace);
    const to = unread.length === 0 ? null : { ...stored.task, until: BEFORE_ALL };
    await backfills.step(subscription.name, stored, { to });
  }
}

/** Whether part of a snapshot is still to be read or sent. Lists that wait for their baseline do not count. */
export async function isSnapshotRunning(
  tasks: readonly StoredTask[],
  workspace: string,
  { source }: DispatchStores,
): Promise<boolean> {
  const stored = snapshotIn(tasks, workspace);
  if (stored === undefined) return false;
  const { staged, reading, unread } = stored.task;
  return staged || reading !== null || [...(await source.readiness(workspace, unread)).values()].includes('ready');
}

function snapshotIn(tasks: readonly StoredTask[], workspace: string): StoredSnapshot | undefined {
  return tasks.find((one): one is StoredSnapshot => one.task.kind === 'snapshot' && one.task.workspace === workspace);
}

function recordOf(list: ListName | undefined, key: string): string {
  return `${list ?? '-'} ${key}`;
}

/** A subscription that selects any event type of a list gets the snapshot of the list. */
function listsCovered({ lists, on, catalogue = builtInLists }: Selection): ListName[] {
  const wanted = on.map(compileTypePattern);
  return catalogue.all
    .filter((list) => lists === undefined || lists.includes(list.name))
    .filter((list) => typesOf(list).some((type) => wanted.some((matches) => matches(type))))
    .map(({ name }) => name);
}
