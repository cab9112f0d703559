/** What a subscription keeps of a record: deliveries that wait, events that are merged or sent again, dead letters, receipts. */
import type { Queue } from 'bullmq';
import type { ListName } from '../../crm/lists/lists.js';
import { objectOf } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Keys } from '../../redis/keys.js';
import type { Redis } from '../../redis/client.js';
import { parseJson } from '../../redis/stored.js';
import { stagedIn } from './backfills.js';
import { groupOfRecord, idsOf, leaveGroup } from '../deliveries.js';
import type { RecordGate, StoredEvent } from '../groups/gate.js';
import { entryIn } from '../groups/group-entry.js';
import { jobIdsIn, jobsWith, type JobData, type StoredJob } from '../queues.js';
import type { ReceiptStore } from '../receipts/receipts.js';
import { forgetUndelivered } from './undelivered.js';

export interface ErasedRecord {
  workspace: string;
  list: ListName;
  object: string;
  id: string;
  isOf: (event: ChangeEvent) => boolean;
  /** The ids of its events that the log had. */
  eventIds: ReadonlySet<string>;
}

interface Deps {
  redis: Redis;
  keys: Keys;
  gate: RecordGate;
  receipts: ReceiptStore;
  queue: Queue<JobData>;
}

export interface ErasedDeliveries {
  deliveries: number;
  deadLetters: number;
  receipts: number;
  /** Handled at this moment: they are not dropped. */
  running: number;
}

/** Above every log id. */
const EVERYTHING = `${Number.MAX_SAFE_INTEGER}-0`;
const SCANNED = 500;

/** The events that a subscription keeps beside the log, but for those of dead letters. */
export async function* keptEvents({ redis, keys, queue }: Omit<Deps, 'gate' | 'receipts'>, workspace: string) {
  const payloads = keys.payloads(queue.name);
  for await (const step of redis.hscanStream(payloads, { count: SCANNED })) {
    const flat = step as string[];
    for (let at = 0; at + 1 < flat.length; at += 2) {
      const [id = '', json = ''] = [flat[at], flat[at + 1]];
      const { event } = parseJson(json, {
        what: 'an event of an ordering group',
        key: payloads,
        field: id,
      }) as StoredEvent;
      yield { id, json, event };
    }
  }
  const staged = keys.staged(queue.name, workspace);
  for (const text of await redis.lrange(staged, 0, -1))
    yield { id: null, json: text, event: stagedIn(text, staged).event };
}

/** Dead letters of a workspace. Only they have their event in the job. */
export async function deadJobs(queue: Queue<JobData>, workspace: string, except?: ReadonlySet<string>) {
  const ids = await jobIdsIn(queue, ['failed']);
  const jobs = await jobsWith(queue, except === undefined ? ids : ids.filter((id) => !except.has(id)));
  return jobs.flatMap((job) => {
    const { workspace: of, death } = job.data;
    return of === workspace && death !== undefined ? [{ job, event: death.event }] : [];
  });
}

/**
 * May be repeated: a batch that was being written is found by the next call.
 * @param others dead letters that are known to be of other records; the call adds to them
 */
export async function eraseDeliveries(
  record: ErasedRecord,
  others: Set<string>,
  deps: Deps,
): Promise<ErasedDeliveries> {
  const { redis, keys, queue, receipts } = deps;
  const { workspace, list, object, id: recordId, isOf } = record;
  const stored: string[] = [];
  for await (const { id, json, event } of keptEvents(deps, workspace)) {
    if (!isOf(event)) continue;
    if (id === null) await redis.lrem(keys.staged(queue.name, workspace), 0, json);
    else stored.push(id);
  }
  const sum: ErasedDeliveries = { deliveries: 0, deadLetters: 0, receipts: 0, running: 0 };
  for (const { job, event } of await deadJobs(queue, workspace, others)) {
    if (isOf(event)) sum.deadLetters += await dropLetter(job, deps);
    else others.add(job.id);
  }
  const { dropped, running } = await dropGroup(record, deps);
  sum.deliveries += dropped.length;
  sum.running += running;
  const ids = await jobIdsIn(queue, ['waiting', 'active', 'delayed', 'prioritized', 'completed']);
  const own = new Set([...dropped, ...stored, ...ids.filter((id) => record.eventIds.has(idsOf(id).eventId))]);
  const left = new Set(dropped);
  for (const job of await jobsWith(queue, [...own])) await dropJob(job, { left, sum }, deps);
  // What is handled at this moment has its event already.
  if (stored.length > 0) await redis.hdel(keys.payloads(queue.name), ...stored);
  await redis.hdel(keys.seen(queue.name, workspace), `${list} ${recordId}`);
  await forgetUndelivered(deps, queue.name, record);
  for (const eventId of record.eventIds) await redis.unlink(keys.once(queue.name, workspace, eventId));
  const place = { subscription: queue.name, workspace };
  sum.receipts = await receipts.erase(place, recordId, (one) => one.recordId === recordId && objectOf(one) === object);
  return sum;
}

/** What waits in its ordering group leaves before the jobs do: a run of what has left ends without calling the handler. */
async function dropGroup({ workspace, list, id }: ErasedRecord, { redis, keys, gate, queue }: Deps) {
  const group = groupOfRecord(workspace, list, id);
  const key = keys.group(queue.name, group);
  for (;;) {
    const head = await redis.lindex(key, 0);
    if (head === null) return { dropped: [], running: 0 };
    const entry = entryIn(head, key);
    const skipped = await gate.skip(queue.name, { workspace, group, entry }, EVERYTHING);
    if (skipped.outcome === 'moved') continue;
    return { dropped: skipped.dropped.map((one) => one.id), running: skipped.outcome === 'runs' ? 1 : 0 };
  }
}

async function dropLetter({ id, data: { workspace, group } }: StoredJob, { gate, queue }: Deps): Promise<number> {
  await leaveGroup({ workspace, group, id }, { queue, gate });
  return await queue.remove(id);
}

/** @param found.left those that have left their group */
async function dropJob(
  job: StoredJob,
  { left, sum }: { left: ReadonlySet<string>; sum: ErasedDeliveries },
  { gate, queue }: Deps,
): Promise<void> {
  const { id, name: type, data } = job;
  const { workspace, group, logId, kind } = data;
  if (group === null) {
    const entry = { id, logId, kind, atMs: 0, type };
    const { outcome } = await gate.skip(queue.name, { workspace, group, entry }, EVERYTHING);
    if (outcome === 'dropped') sum.deliveries += 1;
    if (outcome === 'runs') sum.running += 1;
    if (outcome === 'runs') return;
    // It runs, or has just died: the group has it still.
  } else if (!left.has(id) && !(await job.isCompleted())) return;
  if ((await queue.remove(id)) === 0 && (await queue.getJobState(id)) === 'active') sum.running += 1;
}
