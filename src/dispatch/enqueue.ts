/**
 * Enters deliveries into their ordering groups, then adds them to the queue. A crash can come after each step; then both
 * steps are repeated:
 *   entered, not added   the repeat finds the event pending and adds it
 *   added                BullMQ knows the job id, or the event has left its group: nothing happens twice
 */
import type { Queue } from 'bullmq';
import { promoteUntried } from './delayed-jobs.js';
import type { Delivery, Entry, Standing } from './ports.js';
import { jobOptions } from './queues.js';

export interface Outgoing<Entered extends Entry = Entry> {
  delivery: Delivery;
  entry: Entered;
}

export interface Target<Entered extends Entry> {
  queue: Queue<Delivery>;
  enter: (entries: readonly Entered[]) => Promise<Standing[]>;
}

/** @param outgoing in the order in which the events of one record are handled */
export async function enqueue<Entered extends Entry>(
  outgoing: readonly Outgoing<Entered>[],
  target: Target<Entered>,
): Promise<void> {
  if (outgoing.length === 0) return;
  const entered = await enter(outgoing, target);
  const present = entered.flatMap(({ standing, fresh, ...one }) =>
    standing === 'left' ? [] : { ...one, standing, fresh },
  );
  if (present.length === 0) return;
  await target.queue.addBulk(
    present.map(({ delivery, entry, standing }) => ({
      name: delivery.event.type,
      data: delivery,
      opts: jobOptions(entry.eventId, { standing }),
    })),
  );
  // The event ahead may have left between entering and adding, and then there was no job to promote yet. In a batch
  // repeated after a crash, the promotion may have been lost with the process.
  const behind = present.filter(({ standing, fresh }) => standing === 'behind' || !fresh);
  if (behind.length === 0) return;
  const now = await enter(behind, target);
  const heads = now.filter(({ standing, entry }) => standing === 'head' && entry.group !== null);
  await Promise.all(heads.map(({ entry }) => promoteUntried(target.queue, entry.eventId)));
}

async function enter<Entered extends Entry>(
  outgoing: readonly Outgoing<Entered>[],
  target: Target<Entered>,
): Promise<(Outgoing<Entered> & Standing)[]> {
  const standings = await target.enter(outgoing.map(({ entry }) => entry));
  return outgoing.flatMap(({ delivery, entry }, index) => {
    const standing = standings[index];
    return standing === undefined ? [] : [{ delivery, entry, ...standing }];
  });
}
