/** The parts of the page that need no server: an assistant is answered from them too. */
import { keptFor } from '../../../kit/gather.js';
import type { Clock } from '../../../kit/clock.js';
import { createEventViews } from './event-view.js';
import { createHistory } from './history.js';
import type { EndpointDeps, PageSource } from './source.js';

/** Pages that are open at the same time share one reading of the status. */
const STATUS_MS = 1_000;

export function createParts(source: PageSource, version: string, clock: Clock): Omit<EndpointDeps, 'queues'> {
  return {
    source,
    version,
    clock,
    history: createHistory(clock),
    views: createEventViews(source.feed.lists.record, (name) => source.links(name)),
    status: keptFor(STATUS_MS, () => source.feed.status(), clock),
  };
}
