/**
 * The id of a delivery, which is the id of its BullMQ job: the event's id; for a replay followed by the replay's id; for a retried dead letter
 * followed by the number of the retry.
 *
 *   evt_1   evt_1.r0123456789   evt_1.t2   evt_1.r0123456789.t2
 */
const SUFFIXES = /(?:\.(r[0-9a-f]{10}))?(?:\.t(\d+))?$/;

export function replayedId(eventId: string, replay: string): string {
  return `${eventId}.${replay}`;
}

export function eventIdOf(id: string): string {
  return id.replace(SUFFIXES, '');
}

/** The replay that sent it; undefined for any other delivery. */
export function replayOf(id: string): string | undefined {
  return SUFFIXES.exec(id)?.[1];
}

/** As log lines name a delivery: the event, and the delivery where it is another one than the first. */
export function idsOf({ id, event }: { id: string; event: { id: string } }): { eventId: string; deliveryId?: string } {
  return { eventId: event.id, ...(id !== event.id && { deliveryId: id }) };
}

/** What a person calls it: the same for all its retries. */
export function letterIdOf(id: string): string {
  return id.replace(/\.t\d+$/, '');
}

/** The id of the next retry. */
export function retriedId(id: string): string {
  return `${letterIdOf(id)}.t${Number(SUFFIXES.exec(id)?.[2] ?? 0) + 1}`;
}
