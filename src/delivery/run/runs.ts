/** The runs of one subscription in this process: their locks are renewed together, and a stop interrupts all of them. */
import { WaitingError, type Job } from 'bullmq';
import { systemClock } from '../../kit/clock.js';
import { gather } from '../../kit/gather.js';
import { Tally } from '../../kit/tally.js';
import { Interrupt } from './attempt.js';
import { addJobs, idsOf } from '../deliveries.js';
import type { HeadJob } from '../groups/gate.js';
import type { JobData } from '../queues.js';
import { TakenOver, type Lock, type RunOptions } from './run.js';
import { runDelivery } from './run-delivery.js';
import type { Tallies } from './run-state.js';
import { runScheduled } from './run-scheduled.js';
import { isScheduled } from '../scheduled-job.js';

type ExtendLocks = (ids: string[], tokens: string[], lockMs: number) => Promise<string[]>;

export function createRuns(options: RunOptions) {
  const { subscription, unfinished, queue, lockMs } = options;
  const running = new Map<string, Lock>();
  const tallies = talliesOf(options);
  const what = `handling of "${subscription.name}"`;
  let isStopping = false;
  // Jobs that are added in the same turn of the event loop are one pipeline.
  const addJob = gather(async (heads: readonly HeadJob[]) => {
    await addJobs(queue(), heads);
    return [];
  });
  const context = { ...options, addJob, tallies };
  return {
    run: async (job: Job<JobData>, token = ''): Promise<void> => {
      const interrupt = new Interrupt();
      if (isStopping) interrupt.abort('stopping');
      const id = job.id ?? '';
      const lock: Lock = { token, interrupt, untilMs: Number.NEGATIVE_INFINITY };
      // An earlier run here has lost it, and may not know yet.
      running.get(id)?.interrupt.abort('lost');
      running.set(id, lock);
      try {
        await unfinished.during(what, () =>
          isScheduled(job) ? runScheduled({ job, lock }, context) : runDelivery({ job, lock }, context),
        );
      } catch (error) {
        if (!(error instanceof TakenOver)) throw error;
        tallies.overtaken.add(idsOf(id));
        // BullMQ then leaves the job to the run that has it, or will have it.
        throw new WaitingError();
      } finally {
        if (running.get(id) === lock) running.delete(id);
      }
    },
    /** BullMQ's own renewal follows the wall clock, and renews no lock after a step back. */
    async renewLocks(extend: ExtendLocks): Promise<void> {
      const held = [...running].filter(([, { interrupt }]) => interrupt.cause !== 'lost');
      if (held.length === 0) return;
      const askedAtMs = systemClock.monotonic();
      const [ids, tokens] = [held.map(([id]) => id), held.map(([, { token }]) => token)];
      const lost = new Set(await extend(ids, tokens, lockMs));
      for (const [id, lock] of held) {
        if (lost.has(id)) lock.interrupt.abort('lost');
        else lock.untilMs = askedAtMs + lockMs;
      }
    },
    /** Aborts the signals of the handlers. Their attempts do not count. */
    interrupt(): void {
      isStopping = true;
      for (const { interrupt } of running.values()) interrupt.abort('stopping');
    },
    /** The process that had this job was lost, or has not renewed its lock. */
    lost: (id: string) => tallies.lost.add(idsOf(id)),
    close: () => Object.values(tallies).forEach((tally) => tally.close()),
  };
}

function talliesOf({ logger, subscription: { name } }: RunOptions): Tallies {
  const warn = (message: string) => new Tally((facts) => logger.warn({ subscription: name, ...facts }, message));
  return {
    overtaken: warn('this process did not respond for too long: events it was handling go to another run'),
    lost: warn('events are handled again: their process crashed, or did not respond for too long'),
  };
}
