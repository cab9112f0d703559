/**
 * Compares the heads of the ordering groups with the jobs of the queues, and adds the jobs of those heads again that BullMQ will not run: a
 * person emptied the queue or removed jobs by hand, or Redis went back to an earlier state. Without its job a head never runs, and every
 * later event of its record waits behind it.
 *
 * A head has no job for a moment while it is being added, and a run whose job is gone may continue until it notices that its lock is lost.
 * So a head counts as lost only when two comparisons, which are further apart than a lock lasts, find the same delivery without a job that
 * will run. A run asks first whether its delivery is still the head, so a job that is added too often does no harm.
 *
 * Heads are compared only where the oldest pending delivery is the same as in the check before: if it has moved on, nothing is stuck, or
 * what is stuck will be the oldest one.
 */
import type { Queue } from 'bullmq';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { loggedAt } from './delivery-id.js';
import { readsWorkspace } from './match.js';
import type { Entry, JobData, LogReader, MustHaveJob, RecordGate } from './ports.js';
import { addJobs, type Head, type Queues } from './queues.js';

export interface LostJobsOptions {
  workspaces: readonly string[];
  queues: Pick<Queues, 'all'>;
  gate: RecordGate;
  log: Pick<LogReader, 'event'>;
  logger: Log;
  clock: Clock;
}

/** The states in which BullMQ will run a job or runs it. The jobs of a paused queue are among them. */
const LIVING = ['waiting', 'active', 'delayed', 'prioritized'] as const;
const CHUNK = 100;

/** What the last check found of a subscription. */
interface Found {
  /** The oldest pending delivery of each workspace. */
  oldest: ReadonlyMap<string, string>;
  /** Deliveries without a job that will run. */
  missing: ReadonlySet<string>;
}

export class LostJobs {
  readonly #options: LostJobsOptions;
  #found = new Map<string, Found>();

  constructor(options: LostJobsOptions) {
    this.#options = options;
  }

  /** @param alive called after each part */
  async check(subscriptions: readonly Subscription[], alive: () => void): Promise<void> {
    const before = this.#found;
    // If this check fails, the next one comes sooner than usual, and must not count as the second.
    this.#found = new Map();
    const found = new Map<string, Found>();
    for (const one of subscriptions) {
      const queue = this.#options.queues.all.get(one.name);
      // Without a queue, the subscription was removed from the configuration meanwhile.
      if (queue !== undefined) found.set(one.name, await this.#checkOne(one, queue, before.get(one.name)));
      alive();
    }
    this.#found = found;
  }

  async #checkOne(subscription: Subscription, queue: Queue<JobData>, before: Found | undefined): Promise<Found> {
    const { gate } = this.#options;
    const oldest = new Map<string, string>();
    for (const workspace of this.#options.workspaces.filter((name) => readsWorkspace(subscription, name))) {
      const pending = await gate.pending(subscription.name, workspace);
      if (pending.oldest !== null) oldest.set(workspace, pending.oldest);
    }
    const stuck = [...oldest].filter(([workspace, logId]) => before?.oldest.get(workspace) === logId);
    if (stuck.length === 0) return { oldest, missing: new Set() };
    const workspaces = stuck.map(([workspace]) => workspace);
    // The heads first, then the jobs: a job that is added in between is found.
    const missing = await withoutJob(await gate.heads(subscription.name, workspaces), queue);
    const lost = missing.filter(({ entry }) => before?.missing.has(entry.id) === true);
    for (const workspace of workspaces) {
      const here = lost.filter((one) => one.workspace === workspace);
      await this.#addAgain(
        here.filter(({ held }) => !held),
        queue,
      );
      await this.#release(
        here.filter(({ held }) => held),
        queue,
      );
    }
    return { oldest, missing: new Set(missing.map(({ entry }) => entry.id)) };
  }

  async #addAgain(lost: readonly MustHaveJob[], queue: Queue<JobData>): Promise<void> {
    let added = 0;
    for (let at = 0; at < lost.length; at += CHUNK) {
      const heads = await Promise.all(lost.slice(at, at + CHUNK).map((one) => this.#headOf(one, queue)));
      const found = heads.filter((head) => head !== null);
      await addJobs(queue, found);
      added += found.length;
    }
    const [{ workspace } = { workspace: '' }] = lost;
    if (added > 0) this.#options.logger.warn({ subscription: queue.name, workspace, added }, ADDED);
  }

  /** A held dead letter that was removed counts as dropped. */
  async #release(held: readonly MustHaveJob[], queue: Queue<JobData>): Promise<void> {
    const { gate, logger } = this.#options;
    let dropped = 0;
    for (const { workspace, group, entry } of held) {
      const left = await gate.advance(queue.name, { workspace, group, id: entry.id, token: '' });
      if (left.outcome !== 'left') continue;
      dropped += 1;
      if (left.next !== null) await addJobs(queue, [{ workspace, group, entry: left.next }]);
    }
    const [{ workspace } = { workspace: '' }] = held;
    if (dropped > 0) logger.warn({ subscription: queue.name, workspace, dropped }, DROPPED);
  }

  /** Null when it has a job after all, or a lock: a run that has not ended holds the delivery. */
  async #headOf({ workspace, group, entry }: MustHaveJob, queue: Queue<JobData>): Promise<Head | null> {
    // Another dispatcher has added it since.
    if (isLiving(await queue.getJobState(entry.id))) return null;
    // The old job, or what is left of it, would keep BullMQ from taking the new one.
    if ((await queue.remove(entry.id)) === 0) return null;
    return { workspace, group, entry: group === null ? await this.#unordered(workspace, entry, queue) : entry };
  }

  /** No list contains the entry of a delivery without an order. An event that is no longer in the log is reported by its run. */
  async #unordered(workspace: string, entry: Entry, queue: Queue<JobData>): Promise<Entry> {
    const stored = await this.#options.gate.stored(queue.name, entry.id);
    if (stored !== null) return { ...entry, kind: 'stored', type: stored.event.type };
    const logId = loggedAt(entry.id) ?? entry.logId;
    const logged = await this.#options.log.event(workspace, logId);
    return { ...entry, logId, type: logged?.event.type ?? entry.type };
  }
}

const ADDED = 'pending events had no job in the queue, as when jobs are removed by hand: their jobs were added again';
const DROPPED =
  'held dead letters had no job in the queue, as when they are removed by hand: the events behind them go on';

function isLiving(state: string): boolean {
  return LIVING.some((living) => living === state);
}

async function withoutJob(heads: readonly MustHaveJob[], queue: Queue<JobData>): Promise<MustHaveJob[]> {
  const living = new Set(await queue.getRanges([...LIVING], 0, -1));
  const candidates = heads.filter(({ entry }) => !living.has(entry.id));
  const missing: MustHaveJob[] = [];
  for (let at = 0; at < candidates.length; at += CHUNK) {
    const chunk = candidates.slice(at, at + CHUNK);
    const states = await Promise.all(chunk.map(({ entry }) => queue.getJobState(entry.id)));
    // A held dead letter keeps its failed job.
    const hasJob = (state: string, held: boolean): boolean => isLiving(state) || (held && state === 'failed');
    missing.push(...chunk.filter(({ held }, index) => !hasJob(states[index] ?? 'unknown', held)));
  }
  return missing;
}
