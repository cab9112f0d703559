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
 *   end     When every event of the list was delivered, and nothing of the list is held or unreadable, `changefeed.snapshot.complete`
 *           is sent: what the receiver has with a lower sequence is not in the list. Until then the list waits (snapshot-end.ts), and
 *           the log is read on. Once a person has decided what was in the way, the list is read again, for what was not sent before.
 */
import { randomBytes } from 'node:crypto';
import { typesOf } from '../../events/catalogue.js';
import { listOf, epochOfSequence, firstSequenceOf } from '../../events/envelope.js';
import { BEFORE_ALL, compareLogIds } from '../../events/log-id.js';
import { snapshotComplete } from '../../events/notices.js';
import { builtInLists, type ListName } from '../../crm/lists/lists.js';
import type { ChangeEvent, LoggedEvent } from '../../events/types.js';
import { isoTime } from '../../kit/clock.js';
import { isWhole } from '../../feed/store/snapshot-source.js';
import type { SnapshotTask } from './backfill-task.js';
import { deliveryIdOf, enqueueEvents, serialOf } from '../deliveries.js';
import { compileSelection, compileTypePattern, type Selection } from '../../events/pattern.js';
import type { DispatchContext, SubscriptionContext } from '../stores.js';
import type { StagedEvent, StoredTask } from './backfills.js';
import { endingLists, type EndingList } from './snapshot-end.js';

export interface SnapshotOptions extends SubscriptionContext {
  workspace: string;
}

type StoredSnapshot = StoredTask<SnapshotTask>;

/** How often it looks whether the events of a list are delivered; and whether a person has decided something. */
const DELIVERING_MS = 500;
const WAITING_MS = 2_000;
/** A timer may fire a little early. */
const EARLY_MS = 20;

interface Begun {
  /** @defaultValue a new one */
  id?: string;
  /** @defaultValue it starts the subscription */
  after?: NonNullable<SnapshotTask['after']>;
}

export class Snapshot {
  readonly #options: SnapshotOptions;
  readonly #selects: (event: ChangeEvent) => boolean;
  /** When it looks next at the lists that wait for their end; by the monotonic clock. */
  #looksAtMs = 0;
  #waitMs: number | undefined;

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
    const { catalogue = builtInLists } = subscription;
    // Of some lists, only the keys of rows are stored: they have no snapshot.
    const unread = listsCovered(subscription).filter((list) => catalogue.byName(list)?.recognisedOnly !== true);
    const progress = { reading: null, staged: false, steps: 0, until: BEFORE_ALL };
    const own = id ?? `s${randomBytes(5).toString('hex')}`;
    const task: SnapshotTask = { kind: 'snapshot', id: own, ...(after && { after }), workspace, unread, ...progress };
    if (outdated === undefined) await backfills.begin(subscription.name, task);
    else await backfills.step(subscription.name, outdated, { to: task, staged: 'discarded' });
  }

  /** Takes one step if there is one. False: the log may be read. */
  async step(tasks: readonly StoredTask[], offset: string): Promise<boolean> {
    const stored = snapshotIn(tasks, this.#options.workspace);
    if (stored === undefined) return false;
    if (stored.task.staged) {
      const isFirst = hasOrder(stored.task, offset);
      if (isFirst) await this.#send(stored, offset);
      return isFirst;
    }
    if (await this.#end(stored)) return true;
    const reading = stored.task.reading ?? (await this.#nextList(stored.task));
    if (reading !== null) await this.#scan(stored, reading);
    else await this.#forget(stored, offset);
    return reading !== null;
  }

  /** Whether there is one that follows the beginning of an epoch. */
  isLater(tasks: readonly StoredTask[]): boolean {
    return snapshotIn(tasks, this.#options.workspace)?.task.after !== undefined;
  }

  /** How long the reader may wait: the end of a list follows soon after its last event was delivered. Undefined: as long as it likes. */
  get waitMs(): number | undefined {
    return this.#waitMs;
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
    for (const list of unread) {
      const { readiness } = await source.condition(workspace, list, after?.epoch);
      if (readiness !== 'ready') continue;
      if (after !== undefined) await source.begin(workspace, list);
      const condition = await source.condition(workspace, list, after?.epoch);
      return { list, from: null, decided: isWhole(condition) ? condition.decided : null };
    }
    return null;
  }

  async #scan(stored: StoredSnapshot, { list, from, decided }: NonNullable<SnapshotTask['reading']>): Promise<void> {
    const { workspace, subscription, source, backfills, logger } = this.#options;
    const { task } = stored;
    const scan = await source.scan(workspace, list, from, task.after && leastOf(task));
    const isRead = scan.next === null;
    const waiting = (task.ending ?? []).filter((one) => one.list !== list);
    const read = { list, decided, isSent: false };
    const to: SnapshotTask = {
      ...task,
      unread: isRead ? task.unread.filter((one) => one !== list) : task.unread,
      reading: isRead ? null : { list, from: scan.next, decided },
      staged: true,
      steps: task.steps + 1,
      until: compareLogIds(scan.tail, task.until) > 0 ? scan.tail : task.until,
      ...(task.after && isRead && { ending: [...waiting, read] }),
    };
    const records = scan.records.map(({ key, event, as }, index) => ({
      record: recordOf(list, key),
      // A deletion has no contents by which it could be selected.
      sent: event !== null && (as === 'gone' || this.#selects(event)) ? staged(event, to, index) : null,
    }));
    const moved = await backfills.step(subscription.name, stored, { to, staged: { tail: scan.tail, records } });
    if (moved && isRead) logger.info({ subscription: subscription.name, workspace, list }, 'snapshot of a list read');
  }

  async #send(stored: StoredSnapshot, offset: string): Promise<void> {
    const { workspace, subscription, backfills } = this.#options;
    const { task } = stored;
    const logId = offset === BEFORE_ALL ? '0-0' : offset;
    const events = (await backfills.staged(subscription.name, workspace)).map(({ id, event }) => ({
      ...{ event, logId, serial: serialOf(id), stored: { event } },
    }));
    await enqueueEvents(events, { ...this.#options, origin: task.id, readAt: stored }, this.#options);
    const to = { ...task, staged: false };
    await backfills.step(subscription.name, stored, { to, entered: events.at(-1)?.serial, staged: 'sent' });
  }

  /** Takes the next step towards the end of a list. False: there is none to take now. */
  async #end(stored: StoredSnapshot): Promise<boolean> {
    const { subscription, clock } = this.#options;
    if ((stored.task.ending ?? []).length === 0) this.#waitMs = undefined;
    else if (clock.monotonic() >= this.#looksAtMs) {
      const lists = await endingLists(stored, subscription.name, this.#options);
      const next = lists.find(({ verdict }) => verdict !== 'delivering' && verdict !== 'waits');
      if (next !== undefined) return await this.#conclude(stored, next);
      this.#waitMs = lists.some(({ verdict }) => verdict === 'delivering') ? DELIVERING_MS : WAITING_MS;
      this.#looksAtMs = clock.monotonic() + this.#waitMs - EARLY_MS;
    }
    return false;
  }

  async #conclude(stored: StoredSnapshot, { ending, verdict }: EndingList): Promise<true> {
    const { workspace, subscription, backfills, clock, logger } = this.#options;
    const { task } = stored;
    const { list } = ending;
    const others = (task.ending ?? []).filter((one) => one.list !== list);
    const take = (to: SnapshotTask, sent?: StagedEvent): Promise<boolean> =>
      backfills.step(subscription.name, stored, {
        to,
        ...(sent && { staged: { tail: '', records: [{ record: list, sent }] } }),
      });
    const facts = { subscription: subscription.name, workspace, list };
    switch (verdict) {
      case 'again':
        if (await take({ ...task, ending: others, unread: [...task.unread, list] }))
          logger.info(facts, 'what kept a snapshot of a list from its end was decided: the list is read again');
        return true;
      case 'complete': {
        const to: SnapshotTask = {
          ...task,
          ending: [...others, { ...ending, isSent: true }],
          staged: true,
          steps: task.steps + 1,
        };
        const times = { at: isoTime(clock.now()), since: task.after?.since ?? null };
        const end = snapshotComplete({ workspace, list, ...times, sequence: leastOf(task) });
        await take(to, staged(end, to));
        return true;
      }
      default:
        if (await take({ ...task, ending: others })) logger.info(facts, 'snapshot of a list complete');
        return true;
    }
  }

  /** Once the log is read beyond the last scan. Dispatchers with older batches enter nothing: the offset has moved. */
  async #forget(stored: StoredSnapshot, offset: string): Promise<void> {
    const { workspace, subscription, backfills } = this.#options;
    const { after, unread, ending = [], until } = stored.task;
    const isOver = unread.length === 0 && ending.length === 0;
    // What was sent after Redis went back is not sent again.
    if (!isOver && (until === BEFORE_ALL || after !== undefined)) return;
    if (compareLogIds(offset, until) < 0) return;
    await backfills.forgetImagesRead(subscription.name, workspace);
    const to = isOver ? null : { ...stored.task, until: BEFORE_ALL };
    await backfills.step(subscription.name, stored, { to });
  }
}

function staged(event: ChangeEvent, { id, steps }: SnapshotTask, index = 0): StagedEvent {
  return { id: deliveryIdOf(event.id, `${steps}-${index}`, id), event };
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

/** Whether part of a snapshot is still to be read or sent. Lists that wait for their baseline, or for a person, do not count. */
export async function isSnapshotRunning(
  { name, workspace }: { name: string; workspace: string },
  context: Pick<DispatchContext, 'source' | 'backfills'>,
): Promise<boolean> {
  const stored = snapshotIn(await context.backfills.tasks(name), workspace);
  if (stored === undefined) return false;
  const { staged, reading, unread, after } = stored.task;
  if (staged || reading !== null) return true;
  for (const list of unread)
    if ((await context.source.condition(workspace, list, after?.epoch)).readiness === 'ready') return true;
  return (await endingLists(stored, name, context)).some(({ verdict }) => verdict !== 'waits');
}

function snapshotIn(tasks: readonly StoredTask[], workspace: string): StoredSnapshot | undefined {
  return tasks.filter(isSnapshot).find(({ task }) => task.workspace === workspace);
}

export function isSnapshot(stored: StoredTask): stored is StoredSnapshot {
  return stored.task.kind === 'snapshot';
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
