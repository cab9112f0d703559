/** Which ready-made lists an API serves that the configuration does not poll, and what each would bring. */
import type { ListDescriptor } from '../crm/lists/descriptor.js';
import { createLists, readyMadeLists, type ListName } from '../crm/lists/lists.js';
import { formatDuration } from '../runtime/duration.js';
import { sampleOf, type Ask } from './sample.js';

export interface Offer {
  list: ListName;
  path: string;
  served: boolean;
  /** HTTP status; null when there was no answer. */
  status: number | null;
  brings: string;
}

const EVERY = createLists(readyMadeLists.all);

/** @param polled the lists that the configuration polls */
export function offersBeside(polled: readonly ListDescriptor[]): readonly ListDescriptor[] {
  return readyMadeLists.all.filter(({ path }) => !polled.some((list) => list.path === path));
}

/**
 * One request for each list.
 * @param walkMsOf how long a sweep of a list takes; null where that is not known
 */
export async function probeOffers(
  ask: Ask,
  lists: readonly ListDescriptor[],
  walkMsOf: (list: ListName) => number | null,
): Promise<Offer[]> {
  const offers: Offer[] = [];
  for (const list of lists) {
    const { page, answer } = sampleOf(list, { question: 'page', cursor: null, ...(await ask(list, null)) });
    const about = { list: list.name, path: list.path, brings: bringsOf(list, walkMsOf) };
    offers.push({ ...about, served: page !== null, status: answer?.status ?? null });
  }
  return offers;
}

function bringsOf({ object, history }: ListDescriptor, walkMsOf: (list: ListName) => number | null): string {
  if (history === undefined) return `events crm.${object}.*`;
  const lists = history.of.flatMap((of) => EVERY.byObject(of.object)?.name ?? []);
  const walks = lists.map(walkMsOf).filter((ms) => ms !== null);
  // An edit is made at any time of a walk.
  const instead = walks.length === 0 ? '' : ` instead of ${formatDuration(Math.max(...walks) / 2)}`;
  return `edits of ${lists.join(' and ')} found in about 2 s${instead}, with who made them`;
}
