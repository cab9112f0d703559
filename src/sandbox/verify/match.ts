/**
 * Where in a record's history an event belongs. An event is true when its `before` and `after` are two states of the
 * record, the first before the second: a stretch of history, told as one change because nobody looked in between.
 */
import type { History } from './truth.js';

export interface Claim {
  readonly verb: 'created' | 'updated' | 'deleted';
  /** What `before` says; null: not there. Undefined when the event carries no image although there was one. */
  readonly before: string | null | undefined;
  readonly after: string | null;
  /** ms */
  readonly observedAt: number;
}

export type Match =
  /** Goes on from where the record's last event ended, or later. */
  | { readonly outcome: 'true'; readonly from: number; readonly to: number }
  /** Happened, but events before have told of it already. */
  | { readonly outcome: 'repeated' }
  | { readonly outcome: 'false'; readonly reason: FalseReason };

/** `nothing-changed`: before and after say the same. `never-so`: a state the record never had, or not in this order. */
export type FalseReason = 'unknown-record' | 'nothing-changed' | 'never-so';

/** @param told index of the state the record's last true event led to; 0 at first */
export function matchClaim({ states }: History, { verb, before, after, observedAt }: Claim, told: number): Match {
  if (verb === 'updated' && before === after) return { outcome: 'false', reason: 'nothing-changed' };
  const ends = states.flatMap((state, to) => {
    if (state.content !== after) return [];
    const from = startBefore(to);
    return from === null ? [] : [{ from, to, visibleAt: state.visibleAt }];
  });
  const forward = ends.filter(({ from }) => from >= told);
  if (forward.length === 0) return ends.length > 0 ? { outcome: 'repeated' } : { outcome: 'false', reason: 'never-so' };
  // The same state may come again: the event tells of the latest that its observer had seen, or, by a clock that is behind the
  // journal's, of the first that anyone saw.
  const shown = forward.filter(({ visibleAt }) => visibleAt !== null);
  const seen = shown.findLast(({ visibleAt }) => Number(visibleAt) <= observedAt);
  const { from, to } = seen ?? shown[0] ?? forward[0] ?? { from: 0, to: 0 };
  // Whoever goes on from what they told last has looked past all that came and went in between.
  return { outcome: 'true', from: startsAt(told) ? told : from, to };

  function startsAt(from: number): boolean {
    const content = states[from]?.content ?? null;
    return (before === undefined ? content !== null : content === before) && content !== after;
  }

  /** The last state before this one that the event may have started from. */
  function startBefore(to: number): number | null {
    for (let from = to - 1; from >= 0; from--) if (startsAt(from)) return from;
    return null;
  }
}
