/**
 * Finds the part of a record's history that an event reports. An event is true when its `before` and `after` are two
 * states of the record in this order. They need not be adjacent: states that no client read in between are skipped.
 */
import type { History } from './truth.js';

export interface Claim {
  readonly verb: 'created' | 'updated' | 'deleted';
  /** Content of `before`; null: the record did not exist. Undefined: it existed, but the event carries no image. */
  readonly before: string | null | undefined;
  readonly after: string | null;
  /** ms */
  readonly observedAt: number;
}

export type Match =
  /** Starts at the state where the record's last event ended, or later. */
  | { readonly outcome: 'true'; readonly from: number; readonly to: number }
  /** It happened, but earlier events reported it already. */
  | { readonly outcome: 'repeated' }
  | { readonly outcome: 'false'; readonly reason: FalseReason };

/** `nothing-changed`: before and after are equal. `never-so`: the record never had such a state, or not in this order. */
export type FalseReason = 'unknown-record' | 'nothing-changed' | 'never-so';

/** @param reported index of the state that the record's last true event led to; 0 at first */
export function matchClaim({ states }: History, { verb, before, after, observedAt }: Claim, reported: number): Match {
  if (verb === 'updated' && before === after) return { outcome: 'false', reason: 'nothing-changed' };
  const ends = states.flatMap((state, to) => {
    if (state.content !== after) return [];
    const from = startBefore(to);
    return from === null ? [] : [{ from, to, visibleAt: state.visibleAt }];
  });
  const forward = ends.filter(({ from }) => from >= reported);
  if (forward.length === 0) return ends.length > 0 ? { outcome: 'repeated' } : { outcome: 'false', reason: 'never-so' };
  // A record can have the same state several times. The event reports the latest one that was visible when it was observed. If
  // the observer's clock is behind the journal's, none was: then it is the first one that became visible.
  const shown = forward.filter(({ visibleAt }) => visibleAt !== null);
  const seen = shown.findLast(({ visibleAt }) => Number(visibleAt) <= observedAt);
  const { from, to } = seen ?? shown[0] ?? forward[0] ?? { from: 0, to: 0 };
  // An event that continues from the last reported state covers all states in between.
  return { outcome: 'true', from: startsAt(reported) ? reported : from, to };

  function startsAt(from: number): boolean {
    const content = states[from]?.content ?? null;
    return (before === undefined ? content !== null : content === before) && content !== after;
  }

  /** The last earlier state that the event can start from. */
  function startBefore(to: number): number | null {
    for (let from = to - 1; from >= 0; from--) if (startsAt(from)) return from;
    return null;
  }
}
