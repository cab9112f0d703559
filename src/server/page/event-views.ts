/**
 * Views of events, with names that their records lack. A memo has only the id of the person in charge; other records have the
 * name. An activity has only the id of the person it belongs to, who is looked up.
 */
import { nameItBelongsTo, type FindRecord } from '../../events/about.js';
import type { LoggedEvent } from '../../events/types.js';
import type { EventView } from './answers.js';
import { readable, viewOf } from './event-view.js';

export type EventViews = (event: LoggedEvent) => Promise<EventView>;

/** People in charge are the users of a CRM. A workspace has few of them. */
const MOST_NAMES = 5_000;

export function createEventViews(find: FindRecord): EventViews {
  const names = new Map<string, string>();
  return async (event) => {
    const view = viewOf(event);
    const { workspace, person } = view;
    const key = `${workspace} ${person?.id ?? ''}`;
    const isNamed = person !== null && person.name !== person.id;
    if (isNamed && names.size >= MOST_NAMES) names.clear();
    if (isNamed) names.set(key, person.name);
    // All events of a page come this far before the first of them goes on, so each knows the names of all.
    const about = await nameItBelongsTo(event.event, find);
    return {
      ...view,
      about: about === undefined ? null : readable(about),
      person: person === null || isNamed ? person : { ...person, name: names.get(key) ?? person.id },
    };
  };
}
