/** What undoes a decision about a record: the past state of a record is its present one, with the later decisions undone, newest first. Pure. */
import type { FieldChange } from '../../crm/canonical.js';
import type { UncheckedRecord } from '../../crm/record.js';
import { isStored } from './record-state.js';
import type { Rules } from './rules.js';
import { changesSince, type StoredRecord } from './stored-record.js';

export type Undo =
  /** It was not in the list. */
  | { was: 'absent' }
  /** It is not in the list any more. */
  | { was: 'whole'; record: UncheckedRecord }
  /** The former values of the fields that changed. */
  | { was: 'other'; fields: UncheckedRecord };

/** One decision that a history keeps: with an event, or with what is stored without one. */
export interface Past {
  /** ISO 8601: when it was made. */
  at: string;
  undo: Undo;
}

interface Decided {
  stored: StoredRecord | null;
  after: StoredRecord;
  rules: Rules;
  /** The changes that its event has. @defaultValue those of compared fields are looked for */
  changes?: readonly FieldChange[] | undefined;
}

/** Null: no compared field is another one, and the record stays where it was. A change that rules leave out is not undone. */
export function undoOf({ stored, after, rules, changes }: Decided): Undo | null {
  const isIn = isStored(after);
  if (!isStored(stored)) return isIn ? { was: 'absent' } : null;
  const { record } = stored;
  if (record === null) return null;
  if (!isIn) return { was: 'whole', record };
  if (after.record === null) return null;
  const all = changes ?? changesSince(stored, after.record, rules);
  if (all.length === 0 && changes === undefined) return null;
  const stamps = rules.list.modifiedAt.filter((name) => record[name] !== after.record?.[name]);
  const fields = [
    ...all.map(({ field, before }): [string, unknown] => [field, before]),
    ...stamps.map((name): [string, unknown] => [name, record[name] ?? null]),
  ];
  return { was: 'other', fields: Object.fromEntries(fields) };
}

/** A record as it was before the decision. Null: it was not in the list. */
export function undone(record: UncheckedRecord | null, undo: Undo): UncheckedRecord | null {
  if (undo.was === 'absent') return null;
  return undo.was === 'whole' ? undo.record : { ...record, ...undo.fields };
}
