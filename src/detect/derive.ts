/**
 * What follows from a change of a todo: that it was completed, opened again, moved to another date, given to somebody else.
 * Said only of fields that the event itself names as changed: what the rules mute, or the schema did, has no consequences.
 */
import { buildEvent, workspaceOf } from '../events/envelope.js';
import type { ChangeEvent, FieldChange, TodoVerb } from '../events/types.js';
import { TODO_FIELDS } from './fields.js';
import type { TodoSide } from './todo.js';

export interface TodoChange {
  /** Null: the todo was not known. */
  before: TodoSide | null;
  after: TodoSide;
  /** ISO 8601, where it is done and says when. */
  doneAt: string | null;
}

/** In the order in which a person would tell them; they follow their source in the log. */
export function deriveTodoEvents(source: ChangeEvent, { before, after, doneAt }: TodoChange): ChangeEvent[] {
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
    // First seen as done: it was opened and completed between two looks. One that came back says nothing of what it was.
    const isNew = source.type === 'crm.todo.created' && source.data.reappeared === undefined;
    return isNew && after.done === true ? [derived('completed', [], doneAt ?? source.time)] : [];
  }
  const changed = (...fields: (keyof typeof TODO_FIELDS)[]): FieldChange[] => changesOf(source, fields);
  const events: ChangeEvent[] = [];
  if (changed('owner').length > 0 && after.owner !== undefined && before.owner !== after.owner)
    events.push(derived('reassigned', changed('owner')));
  if (changed('due').length > 0 && before.due !== after.due)
    events.push(derived('rescheduled', changed('start', 'due')));
  const flipped = changed('done', 'doneAt');
  if (flipped.length > 0 && before.done === true && after.done === false) events.push(derived('reopened', flipped));
  if (flipped.length > 0 && before.done === false && after.done === true)
    events.push(derived('completed', flipped, doneAt ?? source.time));
  return events;
}

function changesOf({ data }: ChangeEvent, kinds: readonly (keyof typeof TODO_FIELDS)[]): FieldChange[] {
  const names = new Set<string>(kinds.flatMap((kind): readonly string[] => TODO_FIELDS[kind]));
  return data.changes.filter(({ field }) => names.has(field.normalize('NFC')));
}
