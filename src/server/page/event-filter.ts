/** Which events a reader wants. Pure. */
import { compilePattern } from '../../events/pattern.js';
import { objectOf } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';
import { personInCharge } from './event-view.js';

export interface EventFilter {
  /** The object of a list in event types. */
  object?: string | undefined;
  /** A type, with `*`. */
  type?: string | undefined;
  /** A changed field, with `*`. */
  field?: string | undefined;
  /** The id of the person in charge, or part of the name. */
  person?: string | undefined;
  /** The id of the record. */
  record?: string | undefined;
  /** Part of what the record is called, or its id. */
  text?: string | undefined;
}

/** All conditions must hold. */
export function compileFilter({
  object,
  type,
  field,
  person,
  record,
  text,
}: EventFilter): (event: ChangeEvent) => boolean {
  const tests: ((event: ChangeEvent) => boolean)[] = [];
  if (object !== undefined) tests.push((event) => event.type.startsWith('crm.') && objectOf(event) === object);
  if (type !== undefined) {
    const matches = compilePattern(type);
    tests.push((event) => matches(event.type));
  }
  if (field !== undefined) {
    const matches = compilePattern(normal(field));
    tests.push(({ data }) => data.changes.some((change) => matches(normal(change.field))));
  }
  if (record !== undefined) tests.push(({ subject }) => subject === record);
  if (person !== undefined)
    tests.push((event) => peopleOf(event).some((one) => one.id === person || contains(one.name, person)));
  if (text !== undefined)
    tests.push((event) => event.subject === text || namesOf(event).some((name) => contains(name, text)));
  return (event) => tests.every((test) => test(event));
}

/** The person in charge, before and after the change. */
function peopleOf({ data }: ChangeEvent): { id: string; name: string }[] {
  return [data.after, data.before].flatMap((record) => (record === null ? [] : (personInCharge(record) ?? [])));
}

function namesOf({ data: { before, after } }: ChangeEvent): string[] {
  return [after, before].flatMap((record) =>
    record === null
      ? []
      : Object.values(record).filter((value): value is string => typeof value === 'string' && value.length <= LONGEST),
  );
}

/** Longer texts are not searched: a search reads thousands of events. */
const LONGEST = 2_000;

function contains(text: string, part: string): boolean {
  return normal(text).includes(normal(part));
}

function normal(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
