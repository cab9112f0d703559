/** What the parts of a process report for its metrics, in the words of the domain. */
import type { ObservedTry } from '../api/with-observer.js';
import type { ListName } from '../crm/lists/lists.js';
import type { ChangeEvent } from '../events/types.js';

export interface Measure {
  /** A request to the CRM has its answer, or has failed. */
  tried(workspace: string, tried: ObservedTry): void;
  /** @param swept.ms how long it took; null when it is incomplete */
  swept(swept: { workspace: string; list: ListName; outcome: 'complete' | 'incomplete'; ms: number | null }): void;
  /** These events are in the log. */
  logged(workspace: string, events: readonly Pick<ChangeEvent, 'type'>[]): void;
  /** A handler was called. Returns what to call with its outcome; only the first call counts. */
  handling(subscription: string): (ended: HandlerEnded) => void;
}

export interface HandlerEnded {
  outcome: 'success' | 'failure' | 'timeout';
  ms: number;
  /** Of the events that were handled: ms since the change, and since its detection. */
  delays: readonly { changeMs: number; detectionMs: number }[];
}

/** For a process without metrics. */
export const unmeasured: Measure = {
  tried: () => undefined,
  swept: () => undefined,
  logged: () => undefined,
  handling: () => () => undefined,
};
