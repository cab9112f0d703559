/**
 * Every commit of a workspace's walks and shortcuts, with all that surrounds it: it is named for a stop that cannot wait for Redis, its
 * events are a span, which becomes the parent of their deliveries, and once they are in the log they are counted, and the records that they
 * name are queued.
 */
import type { ChangeEvent } from '../events/types.js';
import type { Tracing } from '../runtime/tracing.js';
import type { Unfinished } from '../runtime/unfinished.js';
import { queueNamed, type NamedOptions } from '../sweep/shortcuts/named.js';
import { eventsOf, type SweepStore } from '../sweep/store.js';
import { publishSpan } from './traced.js';

export interface CommitOptions extends NamedOptions {
  unfinished: Unfinished;
  tracing: Tracing;
  logged: (events: readonly ChangeEvent[]) => void;
}

export function observedCommit(commit: SweepStore['commit'], options: CommitOptions): SweepStore['commit'] {
  const { workspace, unfinished, tracing, logged } = options;
  return async (list, step) => {
    const events = eventsOf(step);
    const committing = () =>
      events.length === 0
        ? commit(list, step)
        : tracing.span(
            () => publishSpan(events, { workspace, list }),
            ({ traceparent }) => commit(list, traceparent === undefined ? step : { ...step, traceparent }),
          );
    const result = await unfinished.during(`commit of list "${list}"`, committing);
    if (result.outcome === 'committed' && events.length > 0) {
      logged(events);
      // Nothing waits for it: it is only a hint.
      void queueNamed(events, options);
    }
    return result;
  };
}
