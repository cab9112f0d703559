/** The events derived from a changed todo and its timers, committed together with the record: they must agree. Pure. */
import type { UncheckedRecord } from '../../crm/record.js';
import { buildEvent, workspaceOf } from '../../events/envelope.js';
import type { TodoVerb } from '../../events/kinds.js';
import type { ChangeEvent, FieldChange } from '../../events/types.js';
import type { DetectInput, Detection } from './detect.js';
import { TODO_FIELDS } from '../../crm/todo-fields.js';
import type { TodoWatch } from './rules.js';
import { deadlineOf, doneAtOf, isDone, todoSide, type TodoSide } from './todo.js';

export const TIMER_KINDS = ['due_soon', 'overdue'] as const;
export type TimerKind = (typeof TIMER_KINDS)[number];

/** When to emit this event of a todo; null: never. An open todo due soon later always becomes overdue later. */
export interface TimerChange {
  readonly kind: TimerKind;
  readonly atMs: number | null;
}

export interface Watched {
  readonly derived: readonly ChangeEvent[];
  /** Empty: existing timers stay. */
  readonly timers: readonly TimerChange[];
  /** ISO 8601: when this due date was learnt. */
  readonly since?: string | undefined;
}

type TodoField = keyof typeof TODO_FIELDS;

export type TimersOfTodo = readonly [dueSoon: TimerChange, overdue: TimerChange];

export const NO_TIMERS: TimersOfTodo = [
  { kind: 'due_soon', atMs: null },
  { kind: 'overdue', atMs: null },
];

export function watchTodo(input: DetectInput, detection: Detection): Watched {
  const { stored, record, rules, observation } = input;
  const { watch } = rules;
  if (watch === null) return { derived: [], timers: unwatchedTimers(input), since: undefined };
  const isKnown = stored !== null && stored.gone === undefined;
  const [before, after] = [isKnown ? todoSide(stored.record ?? {}) : null, todoSide(record)];
  const { event } = detection;
  const doneAt = doneAtOf(record);
  const isChanged = (...kinds: TodoField[]): boolean => event !== null && changesOf(event, kinds).length > 0;
  const derived = event === null ? [] : deriveTodoEvents(event, { before, after, doneAt, isChanged });
  // A discarded todo has no timers: shown again, it gets them.
  if (before !== null && stored?.discarded === undefined && before.done === after.done && before.due === after.due)
    return { derived, timers: [], since: stored?.dueSince };
  // No timer in the past without an event: what was due before the first sweep is not reported, nor what rules or a
  // schema change mute. Otherwise a field that vanishes and returns would make all todos overdue.
  const named = before === null ? event !== null : isChanged('due', 'done', 'doneAt');
  const quiet = detection.kind === 'baselined' || !named;
  const nowMs = Date.parse(observation.observedAt);
  return {
    derived,
    timers: timersOf(record, watch, { nowMs, quiet }),
    since: quiet ? undefined : observation.observedAt,
  };
}

/** While todos are not watched, timers stay, to know what was emitted; those of a changed todo are wrong. */
function unwatchedTimers({ stored }: DetectInput): readonly TimerChange[] {
  return stored === null ? [] : NO_TIMERS;
}

/** Only an open todo with a deadline has timers. A todo that is overdue is no longer due soon. */
export function timersOf(
  record: UncheckedRecord,
  { timeZone, dueSoonMs }: TodoWatch,
  { nowMs, quiet }: { nowMs: number; quiet: boolean },
): TimersOfTodo {
  const deadline = isDone(record) === false ? deadlineOf(record, timeZone) : null;
  if (deadline === null) return NO_TIMERS;
  const unlessPast = (atMs: number): number | null => (quiet && atMs <= nowMs ? null : atMs);
  return [
    { kind: 'due_soon', atMs: deadline <= nowMs ? null : unlessPast(deadline - dueSoonMs) },
    { kind: 'overdue', atMs: unlessPast(deadline) },
  ];
}

interface TodoChange {
  /** Null: the todo has no stored record. */
  before: TodoSide | null;
  after: TodoSide;
  /** ISO 8601, when it is done and the record says since when. */
  doneAt: string | null;
  isChanged: (...kinds: TodoField[]) => boolean;
}

/** In the order in which they follow the event in the log. What rules or a schema change mute has no consequences. */
function deriveTodoEvents(source: ChangeEvent, { before, after, doneAt, isChanged }: TodoChange): ChangeEvent[] {
  const derived = (verb: TodoVerb, changes: readonly FieldChange[], time = source.time): ChangeEvent =>
    buildEvent({
      workspace: workspaceOf(source),
      list: 'todo',
      verb,
      recordId: source.subject,
      time,
      contentDigest: source.id,
      data: { ...source.data, changes, derivedFrom: source.id },
    });
  if (before === null) {
    // First seen as done: opened and completed between two sweeps. A reappeared todo does not say what it was.
    const isNew = source.type === 'crm.todo.created' && source.data.reappeared === undefined;
    return isNew && after.done === true ? [derived('completed', [], doneAt ?? source.time)] : [];
  }
  const events: ChangeEvent[] = [];
  if (isChanged('owner') && before.owner !== after.owner)
    events.push(derived('reassigned', changesOf(source, ['owner'])));
  if (isChanged('due') && before.due !== after.due)
    events.push(derived('rescheduled', changesOf(source, ['start', 'due'])));
  const isFlipped = isChanged('done', 'doneAt');
  const flipped = changesOf(source, ['done', 'doneAt']);
  if (isFlipped && before.done === true && after.done === false) events.push(derived('reopened', flipped));
  if (isFlipped && before.done === false && after.done === true)
    events.push(derived('completed', flipped, doneAt ?? source.time));
  return events;
}

function changesOf({ data }: ChangeEvent, kinds: readonly TodoField[]): FieldChange[] {
  const names = new Set<string>(kinds.flatMap((kind): readonly string[] => TODO_FIELDS[kind]));
  return data.changes.filter(({ field }) => names.has(field.normalize('NFC')));
}
