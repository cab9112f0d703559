/** What happened to one record, of all its events in a digest: one line instead of several. Pure. */
import { dueText, firstValue, TODO_FIELDS } from '../../../crm/todo-fields.js';
import { textOfValue, wordsOfType } from '../../../events/describe.js';
import type { ChangeEvent, FieldChange } from '../../../events/types.js';

export interface Folded {
  /** The last event: the record as it is then. */
  event: ChangeEvent;
  /** Each once, in the order of the events. */
  verbs: readonly string[];
  /** From the first value to the last one. */
  changes: readonly FieldChange[];
}

/** What changed says no more than these. */
const WHOLE_VERBS: readonly string[] = ['completed', 'reopened'];

/** @param given of one record. In the log, an event that another process has found late may be behind the one after it. */
export function foldEvents(given: readonly [ChangeEvent, ...ChangeEvent[]]): Folded {
  const events = given.toSorted((one, other) => one.data.sequence - other.data.sequence);
  const event = events.at(-1) ?? given[0];
  const verbs = [...new Set(events.map(verbOf))];
  const others = verbs.filter((verb) => verb !== 'updated');
  return { event, verbs: others.length > 0 ? others : verbs, changes: changesOf(events) };
}

/** None of a record that is new, or gone: all of it is. */
function changesOf(events: readonly ChangeEvent[]): FieldChange[] {
  const isNewOrGone = events.some((event) => ['created', 'snapshot', 'deleted'].includes(verbOf(event)));
  if (isNewOrGone) return [];
  const isSaid = (event: ChangeEvent): boolean => WHOLE_VERBS.includes(verbOf(event));
  const said = new Set(events.filter(isSaid).flatMap(({ data }) => data.changes.map(({ field }) => field)));
  const folded = new Map<string, FieldChange>();
  for (const change of events.flatMap(({ data }) => data.changes)) {
    const { field } = change;
    const known = folded.get(field);
    if (!said.has(field)) folded.set(field, known === undefined ? change : { ...change, before: known.before });
  }
  return [...folded.values()].filter(({ before, after }) => textOfValue(before) !== textOfValue(after));
}

/** When a todo is due that is still to be done; null: no such time. */
export function dueOf({ type, data: { due, after } }: ChangeEvent): string | null {
  const { object, verb } = wordsOfType(type);
  if (due !== undefined) return due;
  if (object !== 'todo' || after === null || verb === 'completed') return null;
  return firstValue(after, TODO_FIELDS.done) === true ? null : dueText(after);
}

function verbOf({ type }: ChangeEvent): string {
  return wordsOfType(type).verb;
}
