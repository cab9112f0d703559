/**
 * Puts jobs right that would wait for ever, or for far too long.
 *
 * A delayed job whose time is further away than it was to wait was put there by a clock that was ahead, or has been put
 * back since. It is brought forward, at first sight: its run knows how long it has to wait by the clock of Redis, and puts it back for the rest.
 * So one that is brought forward needlessly, as where the clocks of two machines differ, loses no time.
 *
 * Adds jobs again that a person removed or Redis forgot: without its job a head never runs, and later events of its
 * record wait behind it. A head has no job for a moment while it is added, and a run may continue until it notices a
 * lost lock, so only two comparisons in a row, further apart than a lock lasts, count. A run asks first whether its
 * delivery is still the head, so a job too many does no harm.
 */
import type { Queue } from 'bullmq';
import { addJobs, leaveGroup, loggedAt } from '../deliveries.js';
import { readsWorkspace } from '../../events/pattern.js';
import type { Claim, GroupEntry } from '../groups/gate.js';
import type { MustHaveJob } from '../groups/heads.js';
import { jobIdsIn, type Queues, type JobData } from '../queues.js';
import type { DispatchContext } from '../stores.js';

/** The states in which BullMQ will run a job or runs it. The jobs of a paused queue are among them. */
const LIVING = ['waiting', 'active', 'delayed', 'prioritized'] as const;
const CHUNK = 100;

/** Returns one comparison. It calls `alive` after each step of a search. */
export function createLostJobs(context: DispatchContext & { queues: Queues }) {
  const { subscriptions, workspaces, queues, gate, clock, logger } = context;
  /** By subscription, what the last comparison found without a job. */
  let missing = new Map<string, ReadonlySet<string>>();

  const repair = async ({ workspace, group, entry, held }: MustHaveJob, queue: Queue<JobData>): Promise<boolean> => {
    // A held dead letter that was removed counts as dropped.
    if (held) return await leaveGroup({ workspace, group, id: entry.id }, { queue, gate });
    if (!(await makeRoom({ workspace, group, id: entry.id, token: '' }, queue))) return false;
    const whole = group === null ? await unordered(entry, queue) : entry;
    await addJobs(queue, [{ workspace, group, entry: whole }]);
    return true;
  };
  /** Removes an old job's rest, unless another process added it since. @returns whether a job can be added */
  const makeRoom = async (claim: Claim, queue: Queue<JobData>): Promise<boolean> => {
    const job = await queue.getJob(claim.id);
    if (job === undefined) return true;
    // In this order: a run leaves first, and then its job ends.
    if (willRun(await job.getState())) return false;
    if ((await gate.standing(queue.name, claim)).outcome !== 'head') return false;
    // A locked one has a run that has not ended.
    return (await queue.remove(claim.id)) === 1;
  };
  /** A delivery without an order is in no list. An event that is no longer in the log is reported by its run. */
  const unordered = async (entry: GroupEntry, { name }: Queue): Promise<GroupEntry> => {
    const kind = (await gate.stored(name, entry.id)) === null ? 'logged' : 'stored';
    return { ...entry, kind, logId: loggedAt(entry.id) ?? entry.logId };
  };
  return async (alive: () => void): Promise<void> => {
    const before = missing;
    // If this comparison fails, the next one comes sooner than usual, and must not count as the second.
    missing = new Map();
    const found = new Map<string, ReadonlySet<string>>();
    for (const one of subscriptions) {
      const queue = queues.of(one.name);
      const promoted = await promote(await gate.delayedTooFar(one.name, clock.now()), { queue, alive });
      if (promoted > 0) logger.warn({ subscription: one.name, promoted }, PROMOTED);
      const read = workspaces.filter((name) => readsWorkspace(one, name));
      // The heads first, then the jobs: a job that is added in between is found.
      const heads = await gate.heads(one.name, read, alive);
      const jobless = await withoutJob(heads, queue);
      const stillMissing = new Set<string>();
      found.set(one.name, stillMissing);
      let [added, dropped] = [0, 0];
      for (const head of jobless) {
        const isLost = before.get(one.name)?.has(head.entry.id) === true;
        if (!isLost || !(await repair(head, queue))) stillMissing.add(head.entry.id);
        else if (head.held) dropped += 1;
        else added += 1;
      }
      if (added > 0) logger.warn({ subscription: one.name, added }, ADDED);
      if (dropped > 0) logger.warn({ subscription: one.name, dropped }, DROPPED);
      alive();
    }
    missing = found;
  };
}

const ADDED = 'pending events had no job in the queue, as when jobs are removed by hand: their jobs were added again';
const DROPPED =
  'held dead letters had no job in the queue, as when they are removed by hand: the events behind them go on';

const PROMOTED =
  'retries, or events that wait for their record to be quiet, were planned by a clock that was ahead: they wait for the rest of their time now';

async function promote(
  ids: readonly string[],
  { queue, alive }: { queue: Queue<JobData>; alive: () => void },
): Promise<number> {
  let promoted = 0;
  for (let at = 0; at < ids.length; at += CHUNK) {
    alive();
    const jobs = await Promise.all(ids.slice(at, at + CHUNK).map((id) => queue.getJob(id)));
    for (const job of jobs) {
      // Another process may have promoted it.
      if (job === undefined || !(await job.isDelayed())) continue;
      await job.promote();
      promoted += 1;
    }
  }
  return promoted;
}

function willRun(state: string): boolean {
  return LIVING.some((living) => living === state);
}

async function withoutJob(heads: readonly MustHaveJob[], queue: Queue<JobData>): Promise<MustHaveJob[]> {
  const living = new Set(await jobIdsIn(queue, LIVING));
  const candidates = heads.filter(({ entry }) => !living.has(entry.id));
  const missing: MustHaveJob[] = [];
  const hasJob = (state: string, held: boolean): boolean => willRun(state) || (held && state === 'failed');
  for (let at = 0; at < candidates.length; at += CHUNK) {
    const chunk = candidates.slice(at, at + CHUNK);
    const states = await Promise.all(chunk.map(({ entry }) => queue.getJobState(entry.id)));
    // A held dead letter keeps its failed job.
    missing.push(...chunk.filter(({ held }, index) => !hasJob(states[index] ?? 'unknown', held)));
  }
  return missing;
}
