/**
 * The state of every record, in order with the changes: at the start of a subscription with `start: 'snapshot'`,
 * and after Redis went back for one with `afterRewind: 'snapshot'` (or on command). At the start:
 *
 *   begin   The task is stored, then the offset: from then on the log keeps new events for the subscription.
 *   scan    The images of a list are read in steps and staged, each with the end of the log at that moment.
 *           Only the first read of each record counts, and the end of the log then is stored (`imagesReadAt`).
 *   send    The staged events are entered and queued. Only then is the next step read.
 *   follow  The log is read from the offset on. Events of a record from before its image was read are skipped.
 *           After the end of the last scan, no lookup is needed.
 *
 * A list without a complete baseline is read once it has one; until then its logged events are skipped. Every step can
 * be repeated after a crash and run in several dispatchers at once: the task changes by compare-and-set, a record is
 * staged once, and an event is entered once.
 *
 * After Redis went back, the subscription has begun long ago, and no change is skipped:
 *
 *   begin   The task is stored before the offset moves behind the event that reports it, so all dispatchers find it.
 *   scan    As above, of lists swept since. Their images have a sequence above all that Redis may have forgotten.
 *   send    The log is read up to the end that the step was read with; then the staged events are entered.
 *   end     When all of the list is handled or dead, `changefeed.snapshot.complete` is entered: what the receiver has
 *           with a lower sequence is not in the list. Not where images are missing: that would prove nothing.
 */
import { randomBytes } from 'node:crypto';
import { typesOf } from '../events/catalogue.js';
import { listOf, epochOfSequence, firstSequenceOf } from '../events/envelope.js';
import { BEFORE_ALL, compareLogIds } from '../events/log-id.js';
import { snapshotComplete } from '../events/notices.js';
import { builtInLists, type ListName } from '../crm/lists/lists.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import { isoTime } from '../kit/clock.js';
import type { SnapshotTask } from './backfill-task.js';
import { enqueueEvents } from './deliveries.js';
import { compileSelection, compileTypePattern, type Selection } from '../events/pattern.js';
import type { DispatchContext, SubscriptionContext } from './stores.js';
import type { StoredTask } from './backfills.js';

export interface SnapshotOptions extends SubscriptionContext {
  workspace: string;
}

type StoredSnapshot = StoredTask<SnapshotTask>;

interface Begun {
  /** @defaultValue a new one */
  id?: string;
  /** @defaultValue it starts the subscription */
  after?: NonNullable<SnapshotTask['after']>;
}

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

  /** Before the offset is stored: a crash in between would lose the snapshot. @param outdated of an earlier life */
  async begin(outdated: StoredSnapshot | undefined): Promise<void> {
    await this.#begin(outdated);
  }

  /** Before the offset moves behind this event, which reports that Redis forgot something. Once per event. */
  async beginAfter({ id: eventId, data }: ChangeEvent): Promise<void> {
    const stored = await this.stored();
    const id = `s${eventId.slice(4, 14)}`;
    // The event about a loss is the last one before its epoch.
    const epoch = epochOfSequence(data.sequence + 1);
    if (stored?.task.id !== id) await this.#begin(stored, { id, after: { epoch, since: data.observedAt } });
  }

  /** At the request of a person. One that is under way is dropped: this one sends what it would have sent. */
  async beginNow(after: NonNullable<SnapshotTask['after']>): Promise<void> {
    await this.#begin(await this.stored(), { after });
  }

  async #begin(outdated: StoredSnapshot | undefined, { id, after }: Begun = {}): Promise<void> {
    const { subscription, workspace, backfills } = this.#options;
    const unread = listsCovered(subscription);
    const progress = { reading: null, staged: false, sent: 0, until: BEFORE_ALL, withoutImage: 0 };
    const own = id ?? `s${randomBytes(5).toString('hex')}`;
    const task: SnapshotTask = { kind: 'snapshot', id: own, ...(after && { after }), workspace, unread, ...progress };
    if (outdated === undefined) await backfills.begin(subscription.name, task);
    else await backfills.step(subscription.name, outdated, { to: task, staged: 'discarded' });
  }

  /** Takes one step if there is one. False: the log may be read. */
  async step(tasks: readonly StoredTask[], offset: string): Promise<boolean> {
    const stored = snapshotIn(tasks, this.#options.workspace);
    if (stored === undefined) return false;
    const { staged, ending = null } = stored.task;
    if (staged) {
      const isFirst = hasOrder(stored.task, offset);
      if (isFirst) await this.#send(stored, offset);
      return isFirst;
    }
    if (ending !== null) return await this.#end(stored, ending, offset);
    const reading = stored.task.reading ?? (await this.#nextList(stored.task));
    if (reading !== null) await this.#scan(stored, reading);
    else await this.#forget(stored, offset);
    return reading !== null;
  }

  /** Whether there is one that follows the beginning of an epoch. */
  isLater(tasks: readonly StoredTask[]): boolean {
    return snapshotIn(tasks, this.#options.workspace)?.task.after !== undefined;
  }

  /** Whether the end of a list waits for its events to be handled. */
  isEnding(tasks: readonly StoredTask[]): boolean {
    return (snapshotIn(tasks, this.#options.workspace)?.task.ending ?? null) !== null;
  }

  /** What may be sent; null: the log must wait. The task is read after the batch: later scans see later states. */
  async sendable(batch: readonly LoggedEvent[], offset: string): Promise<Sendable | null> {
    const stored = await this.stored();
    const to = batch.at(-1)?.logId ?? offset;
    if (stored === undefined) return { events: batch, to };
    const { after, staged, reading, until } = stored.task;
    if (after === undefined)
      return staged || reading !== null ? null : { events: await this.#uncovered(batch, stored.task), to };
    if (!staged || compareLogIds(to, until) <= 0) return { events: batch, to };
    if (hasOrder(stored.task, offset)) return null;
    return { events: batch.filter(({ logId }) => compareLogIds(logId, until) <= 0), to: until };
  }

  async #uncovered(batch: readonly LoggedEvent[], { unread, until }: SnapshotTask): Promise<readonly LoggedEvent[]> {
    const { subscription, workspace, backfills } = this.#options;
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

  async #nextList({ unread, after }: SnapshotTask): Promise<SnapshotTask['reading']> {
    if (unread.length === 0) return null;
    const { workspace, source } = this.#options;
    const readiness = await source.readiness(workspace, unread, after?.since);
    const ready = unread.find((list) => ['ready', 'imageless'].includes(readiness.get(list) ?? ''));
    return ready === undefined ? null : { list: ready, from: null };
  }

  async #scan(stored: StoredSnapshot, { list, from }: NonNullable<SnapshotTask['reading']>): Promise<void> {
    const { workspace, subscription, source, backfills, logger } = this.#options;
    const { task } = stored;
    const imageless = (await source.readiness(workspace, [list])).get(list) === 'imageless';
    const scan = imageless
      ? { next: null, tail: task.until, records: [], withoutImage: 0 }
      : await source.scan(workspace, list, from, leastOf(task));
    const withoutImage = (from === null ? 0 : task.withoutImage) + scan.withoutImage;
    const isWhole = scan.next === null && !imageless && withoutImage === 0;
    const to: SnapshotTask = {
      ...task,
      unread: scan.next === null ? task.unread.filter((one) => one !== list) : task.unread,
      reading: scan.next === null ? null : { list, from: scan.next },
      staged: true,
      until: compareLogIds(scan.tail, task.until) > 0 ? scan.tail : task.until,
      withoutImage,
      ...(task.after && isWhole && { ending: { list, sentAt: BEFORE_ALL } }),
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
    const ending = task.ending && { ...task.ending, sentAt: logId };
    const to = { ...task, staged: false, sent: task.sent + events.length, ...(ending && { ending }) };
    await backfills.step(subscription.name, stored, { to, entered: events.at(-1)?.serial, staged: 'sent' });
  }

  /** False while sent events are neither handled nor dead: the receiver would take their records for gone. */
  async #end(
    stored: StoredSnapshot,
    { list, sentAt }: NonNullable<SnapshotTask['ending']>,
    offset: string,
  ): Promise<boolean> {
    const { workspace, subscription, backfills, gate, clock } = this.#options;
    const { task } = stored;
    const { oldest } = await gate.pending(subscription.name, workspace);
    if (oldest !== null && compareLogIds(oldest, sentAt) <= 0) return false;
    const times = { at: isoTime(clock.now()), since: task.after?.since ?? null };
    const event = snapshotComplete({ workspace, list, ...times, sequence: leastOf(task) });
    const logId = offset === BEFORE_ALL ? '0-0' : offset;
    const serial = `${task.sent + 1}-0`;
    const sent = [{ event, logId, serial, stored: { event } }];
    await enqueueEvents(sent, { ...this.#options, origin: task.id, readAt: stored }, this.#options);
    const to = { ...task, sent: task.sent + 1, ending: null };
    await backfills.step(subscription.name, stored, { to, entered: serial });
    return true;
  }

  /** Once the log is read beyond the last scan. Dispatchers with older batches enter nothing: the offset has moved. */
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

interface Sendable {
  events: readonly LoggedEvent[];
  to: string;
}

/** Of the events that a step has staged: above all that was given out before the epoch, below all that follow. */
function leastOf({ after }: SnapshotTask): number {
  return after === undefined ? 0 : firstSequenceOf(after.epoch) - 1;
}

/** Whether everything was read from the log that the staged images contain. At the start, it is skipped. */
function hasOrder({ after, until }: SnapshotTask, offset: string): boolean {
  return after === undefined || compareLogIds(offset, until) >= 0;
}

/** Whether part of a snapshot is still to be read or sent. Lists that wait for their baseline do not count. */
export async function isSnapshotRunning(
  tasks: readonly StoredTask[],
  workspace: string,
  { source }: DispatchContext,
): Promise<boolean> {
  const stored = snapshotIn(tasks, workspace);
  if (stored === undefined) return false;
  const { staged, reading, unread, after, ending = null } = stored.task;
  if (staged || reading !== null || ending !== null) return true;
  return [...(await source.readiness(workspace, unread, after?.since)).values()].includes('ready');
}

function snapshotIn(tasks: readonly StoredTask[], workspace: string): StoredSnapshot | undefined {
  return tasks.find((one): one is StoredSnapshot => one.task.kind === 'snapshot' && one.task.workspace === workspace);
}

function recordOf(list: ListName | undefined, key: string): string {
  return `${list ?? '-'} ${key}`;
}

/** A subscription that selects any event type of a list gets the snapshot of the list. */
export function listsCovered({ lists, on, catalogue = builtInLists }: Selection): ListName[] {
  const wanted = on.map(compileTypePattern);
  return catalogue.all
    .filter((list) => lists === undefined || lists.includes(list.name))
    .filter((list) => typesOf(list).some((type) => wanted.some((matches) => matches(type))))
    .map(({ name }) => name);
}
