/**
 * Adds the jobs of heads again that are gone from a queue: a person emptied it, or removed jobs by hand. Without its job a head never runs,
 * and every later event of its record waits behind it.
 *
 * A head has no job for a moment while it is being added, and a run whose job is gone may continue until it notices that its lock is lost.
 * So a head counts as lost only when two checks, as far apart as a lock lasts, find the same delivery without a job. Its new job asks
 * before it runs whether the delivery is still the head, so a job that is added too often does no harm.
 *
 * A check asks for two numbers. All heads are compared with the jobs only when something points at lost jobs: deliveries are pending and the
 * queue has no job, or the oldest pending delivery is the same as in the last check. Both also have good reasons, such as a long retry or a
 * held dead letter; so after a comparison that found nothing, the next one is put off, until the oldest delivery is another one.
 */
import type { Queue } from 'bullmq';
import { BEFORE_ALL, offsetBefore, timeOfLogId } from '../events/log-id.js';
import type { LoggedEvent } from '../events/types.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { eventIdOf } from './delivery-id.js';
import { readsWorkspace } from './match.js';
import type { Entry, Heads, JobData, LogReader, RecordGate } from './ports.js';
import { addJobs, type Head, type Queues } from './queues.js';

export interface LostJobsOptions {
  workspaces: readonly string[];
  queues: Pick<Queues, 'all'>;
  gate: RecordGate;
  log: Pick<LogReader, 'read'>;
  logger: Log;
  clock: Clock;
}

/** The states in which BullMQ will run a job or runs it. The jobs of a paused queue are among them. */
const LIVING = ['waiting', 'active', 'delayed', 'prioritized'] as const;
/** How many checks are left out after a comparison that found nothing: twice as many after each, up to this number. */
const MOST_LEFT_OUT = 20;
const CHUNK = 100;
const BATCH = 250;

interface Seen {
  /** The oldest pending delivery in the last check. */
  oldest: string | null;
  /** Deliveries that had no job in the last check. */
  missing: ReadonlySet<string>;
  /** Checks to be left out before the next comparison, and how many the last comparison left out. */
  left: number;
  leftOut: number;
}

const NOTHING: Seen = { oldest: null, missing: new Set(), left: 0, leftOut: 0 };

type Where = { subscription: string; workspace: string };
type Lost = Pick<Head, 'group'> & { id: string; logId: string; held: boolean; entry?: Entry };

export class LostJobs {
  readonly #options: LostJobsOptions;
  readonly #seen = new Map<string, Seen>();

  constructor(options: LostJobsOptions) {
    this.#options = options;
  }

  /** @param alive called after each part */
  async check(subscriptions: readonly Subscription[], alive: () => void): Promise<void> {
    try {
      await this.#checkAll(subscriptions, alive);
    } catch (error) {
      // The next check comes sooner than usual, and must not count as the second.
      this.#seen.clear();
      throw error;
    }
  }

  async #checkAll(subscriptions: readonly Subscription[], alive: () => void): Promise<void> {
    for (const one of subscriptions) {
      for (const workspace of this.#options.workspaces.filter((name) => readsWorkspace(one, name))) {
        const where = { subscription: one.name, workspace };
        const key = `${one.name} ${workspace}`;
        this.#seen.set(key, await this.#checkOne(where, this.#seen.get(key) ?? NOTHING));
        alive();
      }
    }
  }

  async #checkOne(where: Where, seen: Seen): Promise<Seen> {
    const { gate, queues } = this.#options;
    const queue = queues.all.get(where.subscription);
    const { oldest } = await gate.pending(where.subscription, where.workspace);
    // Without a queue, the subscription was removed from the configuration meanwhile.
    if (oldest === null || queue === undefined) return NOTHING;
    const known: Seen = oldest === seen.oldest ? seen : { ...NOTHING, oldest, missing: seen.missing };
    if (known.missing.size === 0) {
      if (known.left > 0) return { ...known, left: known.left - 1 };
      if (oldest !== seen.oldest && (await hasJobs(queue))) return known;
    }
    const missing = await withoutJob(await gate.heads(where.subscription, where.workspace), queue);
    const lost = missing.filter(({ id }) => known.missing.has(id));
    const [held, pending] = [lost.filter((one) => one.held), lost.filter((one) => !one.held)];
    await this.#addAgain(pending, where, queue);
    await this.#release(held, where, queue);
    if (missing.length > 0) return { ...NOTHING, oldest, missing: new Set(missing.map(({ id }) => id)) };
    const leftOut = Math.min(2 * known.leftOut + 1, MOST_LEFT_OUT);
    return { ...NOTHING, oldest, left: leftOut, leftOut };
  }

  async #addAgain(lost: readonly Lost[], where: Where, queue: Queue<JobData>): Promise<void> {
    const { subscription, workspace } = where;
    let added = 0;
    for (let at = 0; at < lost.length; at += CHUNK) {
      const heads = await Promise.all(lost.slice(at, at + CHUNK).map((one) => this.#headOf(one, where, queue)));
      const found = heads.filter((head) => head !== null);
      await addJobs(queue, found);
      added += found.length;
    }
    if (added > 0) this.#options.logger.warn({ subscription, workspace, added }, ADDED);
  }

  /** A held dead letter that was removed counts as dropped. */
  async #release(held: readonly Lost[], where: Where, queue: Queue<JobData>): Promise<void> {
    const { gate, logger } = this.#options;
    const { subscription, workspace } = where;
    let dropped = 0;
    for (const { id, group } of held) {
      const left = await gate.advance(subscription, { workspace, group, id, token: '' });
      if (left.outcome !== 'left') continue;
      dropped += 1;
      if (left.next !== null) await addJobs(queue, [{ workspace, group, entry: left.next, askedAtMs: left.askedAtMs }]);
    }
    if (dropped > 0) logger.warn({ subscription, workspace, dropped }, DROPPED);
  }

  /** Null when it has a job after all, or a lock: a run that has not ended holds the delivery. */
  async #headOf({ id, group, ...lost }: Lost, where: Where, queue: Queue<JobData>): Promise<Head | null> {
    // Another dispatcher has added it since.
    if ((await queue.getJobState(id)) !== 'unknown') return null;
    // What is left of it would keep BullMQ from taking the job.
    if ((await queue.remove(id)) === 0) return null;
    const entry = lost.entry ?? (await this.#entryOf({ id, logId: lost.logId }, where));
    return { workspace: where.workspace, group, entry, askedAtMs: 0 };
  }

  /** The entry of a delivery without an order, which no list contains. */
  async #entryOf({ id, logId }: Pick<Entry, 'id' | 'logId'>, { subscription, workspace }: Where): Promise<Entry> {
    const { gate, clock } = this.#options;
    const stored = await gate.stored(subscription, id);
    if (stored !== null) return { id, logId, atMs: clock.now(), kind: 'stored', type: stored.event.type };
    const logged = await this.#findLogged(workspace, { eventId: eventIdOf(id), logId });
    // An event that is no longer in the log is reported by its run.
    const type = logged?.event.type ?? 'missing';
    return { id, logId: logged?.logId ?? logId, atMs: clock.now(), kind: 'logged', type };
  }

  /** The log id may be a little before the event, within the same millisecond. */
  async #findLogged(
    workspace: string,
    { eventId, logId }: { eventId: string; logId: string },
  ): Promise<LoggedEvent | undefined> {
    for (let after = logId === BEFORE_ALL ? logId : offsetBefore(logId); ;) {
      const batch = await this.#options.log.read(workspace, after, BATCH);
      const found = batch.find(({ event }) => event.id === eventId);
      const last = batch.at(-1);
      if (found !== undefined || last === undefined || timeOfLogId(last.logId) > timeOfLogId(logId)) return found;
      after = last.logId;
    }
  }
}

const ADDED = 'pending events had no job in the queue, as when jobs are removed by hand: their jobs were added again';
const DROPPED =
  'held dead letters had no job in the queue, as when they are removed by hand: the events behind them go on';

async function hasJobs(queue: Queue<JobData>): Promise<boolean> {
  const counts = await queue.getJobCounts(...LIVING);
  return Object.values(counts).some((count) => count > 0);
}

/** The heads first, then the jobs: a job that is added in between is found. */
async function withoutJob({ ordered, unordered }: Heads, queue: Queue<JobData>): Promise<Lost[]> {
  const heads: Lost[] = [
    ...ordered.map((one) => ({ ...one, id: one.entry.id, logId: one.entry.logId })),
    ...unordered.map((one) => ({ ...one, group: null, held: false })),
  ];
  const living = new Set(await queue.getRanges([...LIVING], 0, -1));
  const candidates = heads.filter(({ id }) => !living.has(id));
  const missing: Lost[] = [];
  for (let at = 0; at < candidates.length; at += CHUNK) {
    const chunk = candidates.slice(at, at + CHUNK);
    const states = await Promise.all(chunk.map(({ id }) => queue.getJobState(id)));
    // It has been handled since, or is becoming a dead letter.
    missing.push(...chunk.filter((_, index) => states[index] === 'unknown'));
  }
  return missing;
}
