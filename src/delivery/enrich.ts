/** Adds what the workspace knows to an event that is handed to a handler. The records are read when the event is handled. */
import type { ListName, Lists } from '../crm/lists/lists.js';
import type { CrmRecord } from '../crm/record.js';
import { linkOf, referencesOf, relatedRecord, type Include, type Links } from '../events/related.js';
import type { ChangeEvent } from '../events/types.js';
import type { Language } from '../words/words.js';

/** What handling knows of a workspace. */
export interface Surroundings {
  language: Language;
  timeZone: string;
  lists: Lists;
  links: Links;
  /** The stored record; null when there is none, when only its digest is stored, and of a list that is not polled. */
  record: (list: ListName, id: string) => Promise<CrmRecord | null>;
}

/** A failure of Redis is thrown, so that the attempt fails: an event without the records would look as if there were none. */
export function enrich(
  event: ChangeEvent,
  include: Include | undefined,
  { links, lists, record }: Surroundings,
): ChangeEvent | Promise<ChangeEvent> {
  const link = linkOf(event, links);
  const linked = link === null ? event : { ...event, data: { ...event.data, link } };
  if (include === undefined || (event.data.after ?? event.data.before) === null) return linked;
  // In one turn of the event loop, so that one write to Redis has all reads.
  const reading = referencesOf(event, include, lists).map(async ([word, reference]) => {
    const stored = reference && (await record(reference.list, reference.id));
    return [word, reference && stored && relatedRecord(stored, reference.id, include[word] ?? true)] as const;
  });
  return Promise.all(reading).then((found) => ({
    ...linked,
    data: { ...linked.data, related: Object.fromEntries(found) },
  }));
}
