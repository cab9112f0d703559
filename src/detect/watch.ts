/**
 * What a look at a todo means beyond its own event: the events that follow from it, and the moments to be told of later. Pure;
 * committed with the record, so that both are as true as the image that they were read from.
 */
import type { ChangeEvent } from '../events/types.js';
import type { Detection } from './detect.js';
import { deriveTodoEvents } from './derive.js';
import type { DetectInput } from './input.js';
import type { TodoWatch } from './rules.js';
import { deadlineOf, doneAtOf, isDone, todoSide, todoSides } from './todo.js';
import type { UncheckedRecord } from '../crm/record.js';

export const TIMER_KINDS = ['due_soon', 'overdue'] as const;
export type TimerKind = (typeof TIMER_KINDS)[number];

/** When to speak of a todo; null: not at all. */
export interface TimerChange {
  readonly kind: TimerKind;
  readonly atMs: number | null;
}

export interface Watched {
  readonly derived: readonly ChangeEvent[];
  /** Empty: those that are set stay. */
  readonly timers: readonly TimerChange[];
  /** ISO 8601: when this due date was learnt. */
  readonly since?: string | undefined;
}

export const NO_TIMERS: readonly TimerChange[] = TIMER_KINDS.map((kind) => ({ kind, atMs: null }));

export function watchTodo(input: DetectInput, detection: Detection): Watched {
  const { known, record, rules, observation } = input;
  const { watch } = rules;
  if (watch === null || detection.kind === 'stale') return { derived: [], timers: [], since: known?.dueSince };
  const isKnown = known !== null && known.gone === undefined;
  const [before, after] = isKnown ? todoSides(known, record, rules) : [null, todoSide(record)];
  const { event } = detection;
  const doneAt = input.images === false ? null : doneAtOf(record);
  const derived = event === null ? [] : deriveTodoEvents(event, { before, after, doneAt });
  if (before !== null && before.done === after.done && before.due === after.due)
    return { derived, timers: [], since: known?.dueSince };
  // First contact is quiet: what was over by then is nobody's news.
  const quiet = detection.kind === 'baselined';
  const nowMs = Date.parse(observation.observedAt);
  return {
    derived,
    timers: timersOf(record, watch, { nowMs, quiet }),
    since: quiet ? undefined : observation.observedAt,
  };
}

/** A todo that is not open, or does not say so, has none. Once it is over it is not due soon any more. */
export function timersOf(
  record: UncheckedRecord,
  { timeZone, dueSoonMs }: TodoWatch,
  { nowMs, quiet }: { nowMs: number; quiet: boolean },
): readonly TimerChange[] {
  const deadline = isDone(record) === false ? deadlineOf(record, timeZone) : null;
  if (deadline === null) return NO_TIMERS;
  const unlessPast = (atMs: number): number | null => (quiet && atMs <= nowMs ? null : atMs);
  return [
    { kind: 'due_soon', atMs: deadline <= nowMs ? null : unlessPast(deadline - dueSoonMs) },
    { kind: 'overdue', atMs: unlessPast(deadline) },
  ];
}
