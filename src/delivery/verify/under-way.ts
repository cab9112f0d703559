/**
 * The records whose changes are on their way to a subscription: pending deliveries, and events of the log that it had not read when the
 * comparison began. It is read before the copy, and goes on with the log: a record that is not in it has got everything that was logged
 * before the comparison began. What is delivered meanwhile stays in it.
 */
import { builtInLists, type ListName } from '../../crm/lists/lists.js';
import { listOf } from '../../events/envelope.js';
import { BEFORE_ALL, compareLogIds, offsetBefore } from '../../events/log-id.js';
import type { ChangeEvent } from '../../events/types.js';
import { loggedAt } from '../deliveries.js';
import { deadJobs } from '../act/erase.js';
import { isSnapshot } from '../act/snapshot.js';
import { endingLists } from '../act/snapshot-end.js';
import type { SubscriptionContext } from '../stores.js';
import { IdSet } from '../../kit/id-set.js';

const CHUNK = 500;

export type UnderWay = Awaited<ReturnType<typeof readUnderWay>>;

/** @param asOfMs changes that were logged later are not in the copy */
export async function readUnderWay(
  { workspace, asOfMs }: { workspace: string; asOfMs: number },
  deps: SubscriptionContext,
) {
  const { subscription, offsets, log, queue, gate, backfills } = deps;
  const { name, catalogue = builtInLists } = subscription;
  const records = new IdSet();
  const dead = new IdSet();
  const keyOf = (event: Pick<ChangeEvent, 'type' | 'subject'>): string =>
    `${listOf(event, catalogue) ?? '-'} ${event.subject}`;
  // Before the pending deliveries: what is staged is entered next.
  const sending = new Set<ListName>();
  for (const stored of (await backfills.tasks(name)).filter(isSnapshot)) {
    const { task } = stored;
    if (task.workspace !== workspace) continue;
    for (const list of [...task.unread, task.reading?.list]) if (list !== undefined) sending.add(list);
    // What the receiver has and the list has not goes with the end of the list.
    for (const { ending, verdict } of await endingLists(stored, name, deps))
      if (verdict !== 'waits') sending.add(ending.list);
    for (const { event } of await backfills.staged(name, workspace)) records.add(keyOf(event));
  }
  // The offset before them too: what is entered later is behind it.
  const offset = (await offsets.get(workspace, name)) ?? BEFORE_ALL;
  const waiting = new Set(await gate.pendingIds(name, workspace));
  for (const { event } of await deadJobs(queue, workspace)) dead.add(keyOf(event));
  // Again: a dead letter may have been retried in between.
  for (const id of await gate.pendingIds(name, workspace)) waiting.add(id);
  const ids = [...waiting];
  for (let at = 0; at < ids.length; at += CHUNK) {
    const chunk = ids.slice(at, at + CHUNK);
    const events = await Promise.all(
      chunk.map(async (id) => {
        const logId = loggedAt(id);
        const logged = logId === undefined ? null : await log.stored(workspace, logId);
        return logged?.event ?? (await gate.stored(name, id))?.event ?? null;
      }),
    );
    for (const event of events) if (event !== null) records.add(keyOf(event));
  }
  const asOf = offsetBefore(`${Math.max(0, Math.floor(asOfMs))}-0`);
  let readTo = compareLogIds(offset, asOf) < 0 ? offset : asOf;
  /** Events that were logged since it was last asked. */
  const goOn = async (): Promise<void> => {
    for await (const entries of log.query({ workspaces: [workspace], order: 'oldest', from: readTo })) {
      for (const entry of entries) records.add(keyOf(entry));
      readTo = entries.at(-1)?.logId ?? readTo;
    }
  };
  await goOn();
  const { dropped, cancelled } = await skippedEvents(workspace, deps);
  return {
    goOn,
    has: (list: ListName, id: string): boolean => sending.has(list) || records.has(`${list} ${id}`),
    isDead: (list: ListName, id: string): boolean => dead.has(`${list} ${id}`),
    /** Whether a person dropped the event. */
    isDropped: (eventId: string | undefined): boolean => eventId !== undefined && dropped.has(eventId),
    /** Whether its changes cancelled each other out (`settle`), so that it was not sent. */
    isCancelled: (eventId: string | undefined): boolean => eventId !== undefined && cancelled.has(eventId),
  };
}

/** What left without its handler being called, as far as receipts say. */
async function skippedEvents(workspace: string, { subscription, receipts }: SubscriptionContext) {
  const [dropped, cancelled] = [new IdSet(), new IdSet()];
  const place = { subscription: subscription.name, workspace };
  for await (const { eventId, error } of receipts.search(place, { sinceMs: 0, outcomes: ['skipped'] })) {
    if (error === 'dropped') dropped.add(eventId);
    if (error === 'cancelled-out') cancelled.add(eventId);
  }
  return { dropped, cancelled };
}
