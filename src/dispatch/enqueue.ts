/**
 * Deliveries on their way out: into their records' lanes, then into the queue. Each step may be the last before a crash;
 * then both are repeated:
 *   entered, not added   the repeat finds the event pending and adds it
 *   added                the job id is known to the queue, or the event has left its lane: nothing happens twice
 */
import type { Queue } from 'bullmq';
import { promoteParked } from './delayed-jobs.js';
import type { Delivery, Entry, Standing } from './ports.js';
import { jobOptions } from './queue-layout.js';

export interface Outgoing<Entered extends Entry = Entry> {
  delivery: Delivery;
  entry: Entered;
}

export interface Way<Entered extends Entry> {
  queue: Queue<Delivery>;
  enter: (entries: readonly Entered[]) => Promise<Standing[]>;
}

type Placed<Entered extends Entry> = Outgoing<Entered> & { standing: Standing };

/** @param outgoing in the order in which those of one record are to be handled */
export async function deliver<Entered extends Entry>(
  outgoing: readonly Outgoing<Entered>[],
  way: Way<Entered>,
): Promise<void> {
  if (outgoing.length === 0) return;
  const placed = await enter(outgoing, way);
  const wanted = placed.filter(({ standing }) => standing.standing !== 'left');
  if (wanted.length === 0) return;
  await way.queue.addBulk(
    wanted.map(({ delivery, entry, standing: { standing } }) => ({
      name: delivery.event.type,
      data: delivery,
      opts: jobOptions(entry.eventId, { parked: standing === 'behind' }),
    })),
  );
  await wakeHeads(wanted, way);
}

async function enter<Entered extends Entry>(
  outgoing: readonly Outgoing<Entered>[],
  way: Way<Entered>,
): Promise<Placed<Entered>[]> {
  const standings = await way.enter(outgoing.map(({ entry }) => entry));
  return outgoing.flatMap((one, index) => {
    const standing = standings[index];
    return standing === undefined ? [] : [{ ...one, standing }];
  });
}

/**
 * Between entering and adding, the event ahead may have left: whoever made it leave found no job to promote yet. And
 * in a batch repeated after a crash, the promotion may have been lost with the process.
 */
async function wakeHeads<Entered extends Entry>(added: readonly Placed<Entered>[], way: Way<Entered>): Promise<void> {
  const behind = added.filter(({ standing }) => standing.standing === 'behind' || !standing.fresh);
  if (behind.length === 0) return;
  const now = await enter(behind, way);
  const heads = now.filter(({ standing, entry }) => standing.standing === 'head' && entry.group !== null);
  await Promise.all(heads.map(({ entry }) => promoteParked(way.queue, entry.eventId)));
}
