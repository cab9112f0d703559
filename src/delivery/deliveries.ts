/**
 * A delivery is one event of the log, of a snapshot or of a replay on its way to one subscription. It is entered into
 * its ordering group, and gets its job when it is the head. After a crash both steps are repeated:
 *   entered, not added   the repeat finds the event at the head and adds its job
 *   added                BullMQ knows the job, or the event has left its group: nothing happens twice
 *
 * The id of a delivery and its BullMQ job is the event's id, what sent it, and its number there (in the log: its log
 * id), because BullMQ ignores a job whose id it knows. A retried dead letter is followed by when it died.
 *
 *   evt_1.1700000000000-0               from the log
 *   evt_1.s0123456789.7-0               from a snapshot
 *   evt_1.r0123456789.1700000000000-0   from a replay
 *   evt_1.1700000000000-0.t1700000060000
 */
import { Job, type JobsOptions, type MinimalQueue, type Queue } from 'bullmq';
import type { ListName } from '../crm/lists/lists.js';
import { listOf } from '../events/envelope.js';
import type { ChangeEvent } from '../events/types.js';
import type { Subscription } from './handlers/handler.js';
import type { Clock } from '../kit/clock.js';
import type { JobData } from './queues.js';
import type { EventLog } from '../log/event-log.js';
import type {
  GroupEntry,
  HeadJob,
  NewEntry,
  NotedReceipts,
  RecordGate,
  SourceBatch,
  StoredEvent,
} from './groups/gate.js';

const SUFFIXES = /(?:\.([rs][0-9a-f]{10}))?\.(\d+-\d+)(\.t\d+)?$/;

/** @param origin the snapshot or replay; undefined for the log */
export function deliveryIdOf(eventId: string, serial: string, origin?: string): string {
  return [eventId, ...(origin === undefined ? [] : [origin]), serial].join('.');
}

/** The replay or snapshot that sent it; undefined for a delivery from the log. */
export function originOf(id: string): string | undefined {
  return SUFFIXES.exec(id)?.[1];
}

/** The replay that sent it; undefined for any other delivery. */
export function replayOf(id: string): string | undefined {
  const origin = originOf(id);
  return origin?.startsWith('r') === true ? origin : undefined;
}

/** A snapshot sent it. */
export function isOfSnapshot(id: string): boolean {
  return originOf(id)?.startsWith('s') === true;
}

/** May be entered after younger events of its record: a replay, a snapshot, or the retry of a dead letter. */
export function isSentAgain(id: string): boolean {
  const [, origin, , retry] = SUFFIXES.exec(id) ?? [];
  return origin !== undefined || retry !== undefined;
}

/** Where its event is in the log; undefined of a snapshot, whose id does not say. */
export function loggedAt(id: string): string | undefined {
  const [, origin = '', serial] = SUFFIXES.exec(id) ?? [];
  return origin.startsWith('s') ? undefined : serial;
}

/** Its number within its source. */
export function serialOf(id: string): string {
  return SUFFIXES.exec(id)?.[2] ?? '';
}

/** As log lines name a delivery: the event, and the delivery where it is not the event's own in the log. */
export function idsOf(id: string, eventId = id.replace(SUFFIXES, '')): { eventId: string; deliveryId?: string } {
  const isPlain = letterIdOf(id) === eventId && SUFFIXES.exec(id)?.[3] === undefined;
  return { eventId, ...(!isPlain && { deliveryId: id }) };
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

export interface Delivery extends StoredEvent {
  id: string;
  workspace: string;
  logId: string;
}

interface Stores {
  log: EventLog;
  gate: RecordGate;
  subscription: Subscription;
}

/** The event of an entry, with its own copy of it. Null: it is gone from the log. */
export async function loadDelivery(
  { id, logId, kind }: { id: string; logId: string; kind: GroupEntry['kind'] },
  workspace: string,
  { log, gate, subscription }: Stores,
): Promise<Delivery | null> {
  if (kind === 'logged') {
    const logged = await log.event(workspace, logId);
    return logged && { event: logged.event, id, workspace, logId };
  }
  const stored = await gate.stored(subscription.name, id);
  return stored && { ...stored, id, workspace, logId };
}

export interface Target {
  queue: Queue<JobData>;
  gate: RecordGate;
}

export interface Sent {
  event: ChangeEvent;
  logId: string;
  stored?: StoredEvent;
  /** Its number within its source. @defaultValue its log id */
  serial?: string;
}

export interface Source {
  workspace: string;
  /** The replay or snapshot. @defaultValue the workspace's log */
  origin?: string;
  readAt: SourceBatch['readAt'];
  subscription: Subscription;
  clock: Clock;
  log: Pick<EventLog, 'serverMs'>;
}

export async function enqueueEvents(
  events: readonly Sent[],
  from: Source,
  target: Target,
): Promise<number | undefined> {
  if (events.length === 0) return undefined;
  const { workspace, origin, readAt, subscription, clock, log } = from;
  const source = origin === undefined ? workspace : `${origin}:${workspace}`;
  // Debounce measures from then by the same clock.
  const atMs = subscription.settle === undefined ? clock.now() : await log.serverMs();
  const entries = events.map(({ event, logId, serial = logId, stored }): NewEntry => {
    const group = groupOf(workspace, event, subscription);
    const kind = stored === undefined ? 'logged' : 'stored';
    const id = deliveryIdOf(event.id, serial, origin);
    return { id, serial, logId, atMs, kind, type: event.type, group, ...(stored && { stored }) };
  });
  return await enqueue({ workspace, source, readAt, entries }, target);
}

/** The ordering group of an event: its record, or null when the subscription has no order. */
function groupOf(workspace: string, event: ChangeEvent, { order, catalogue }: Subscription): string | null {
  return order === 'none' ? null : groupOfRecord(workspace, listOf(event, catalogue), event.subject);
}

export function groupOfRecord(workspace: string, list: ListName | undefined, id: string): string {
  // Escaped, so that the id of one record cannot spell the group of another. Half a surrogate pair cannot be escaped.
  const record = encodeURIComponent(id.replace(/\p{Surrogate}/gu, '\ufffd'));
  return `${workspace}/${list ?? '-'}/${record}`;
}

/**
 * If nothing was entered because of `readAt`, or Redis forgets it, the step that follows changes nothing either, and the next turn reads again.
 * @returns the number of pending events of the subscription and workspace; undefined when there was nothing to enter
 */
export async function enqueue(batch: SourceBatch, { queue, gate }: Target): Promise<number | undefined> {
  const { entries, workspace } = batch;
  if (entries.length === 0) return undefined;
  const { heads, pending } = await gate.enter(queue.name, batch);
  const added = entries.filter((_, index) => heads[index]).map((entry) => ({ workspace, group: entry.group, entry }));
  await addJobs(queue, added);
  return pending;
}

export const JOB_OPTIONS: JobsOptions = {
  // BullMQ must not end the retries by its own count: our retry policy decides, and it may change while an event waits.
  attempts: 1_000_000_000,
  backoff: { type: 'subscription' },
  /** Failed attempts that a dead letter shows. */
  stackTraceLimit: 20,
};

export async function addJobs(queue: MinimalQueue, heads: readonly HeadJob[]): Promise<void> {
  if (heads.length === 0) return;
  const jobs = heads.map(({ entry: { id, logId, atMs, kind, type }, ...rest }) => {
    const data: JobData = { logId, atMs, kind, ...rest };
    return { name: type, data, opts: { ...JOB_OPTIONS, jobId: id } };
  });
  const [only, ...more] = jobs;
  // A pipeline for one job takes twice the processor time of the job.
  if (only !== undefined && more.length === 0) await Job.create(queue, only.name, only.data, only.opts);
  else await Job.createBulk(queue, jobs);
}

interface Letter {
  workspace: string;
  group: string | null;
  id: string;
}

/** The next delivery of the group then gets its job. @returns false: another process has retried or dropped it */
export async function leaveGroup(letter: Letter, { queue, gate }: Target, noted?: NotedReceipts): Promise<boolean> {
  const advanced = await gate.drop(queue.name, { ...letter, token: '' }, noted);
  if (advanced.outcome !== 'left') return false;
  const { workspace, group } = letter;
  if (advanced.next !== null) await addJobs(queue, [{ workspace, group, entry: advanced.next }]);
  return true;
}
