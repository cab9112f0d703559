/**
 * The id of a delivery, which is the id of its BullMQ job: the event's id, what sent it, and its number there (in the log: its log id). An
 * event that is sent twice is two deliveries, because BullMQ ignores a job whose id it knows. A retried dead letter is followed by when it died.
 *
 *   evt_1.1700000000000-0               from the log
 *   evt_1.s0123456789.7-0               from a snapshot
 *   evt_1.r0123456789.1700000000000-0   from a replay
 *   evt_1.1700000000000-0.t1700000060000
 */
const SUFFIXES = /(?:\.([rs][0-9a-f]{10}))?\.(\d+-\d+)(\.t\d+)?$/;

/** @param origin the snapshot or replay; undefined for the log */
export function deliveryIdOf(eventId: string, serial: string, origin?: string): string {
  return [eventId, ...(origin === undefined ? [] : [origin]), serial].join('.');
}

/** The replay that sent it; undefined for any other delivery. */
export function replayOf(id: string): string | undefined {
  const origin = SUFFIXES.exec(id)?.[1];
  return origin?.startsWith('r') === true ? origin : undefined;
}

/** Whether it may be entered after younger events of its record: a replay, a snapshot, or the retry of a dead letter. */
export function isSentAgain(id: string): boolean {
  const [, origin, , retry] = SUFFIXES.exec(id) ?? [];
  return origin !== undefined || retry !== undefined;
}

/** Where its event is in the log; undefined of a snapshot, whose id does not say. */
export function loggedAt(id: string): string | undefined {
  const [, origin = '', serial] = SUFFIXES.exec(id) ?? [];
  return origin.startsWith('s') ? undefined : serial;
}

/** As log lines name a delivery: the event, and the delivery where it is another one than that of the event in the log. */
export function idsOf({ id, event }: { id: string; event: { id: string } }): { eventId: string; deliveryId?: string } {
  const isPlain = letterIdOf(id) === event.id && SUFFIXES.exec(id)?.[3] === undefined;
  return { eventId: event.id, ...(!isPlain && { deliveryId: id }) };
}

/** What a person calls it: the event's id, followed by the replay that sent it. The same for all its retries. */
export function letterIdOf(id: string): string {
  const replay = replayOf(id);
  const eventId = id.replace(SUFFIXES, '');
  return replay === undefined ? eventId : `${eventId}.${replay}`;
}

/** The id of the retry of a delivery that died at this time, ms. */
export function retriedId(id: string, diedAtMs: number): string {
  return `${id.replace(/\.t\d+$/, '')}.t${diedAtMs}`;
}
