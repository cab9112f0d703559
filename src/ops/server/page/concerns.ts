/** Which records an event is about, so that the page can show everything that one edit has caused in one row. Pure. */
import { KEPT_BY_SYSTEM } from '../../../crm/lists/built-in.js';
import { builtInLists, readyMadeLists } from '../../../crm/lists/lists.js';
import type { HistoryRole } from '../../../crm/lists/descriptor.js';
import type { UncheckedRecord } from '../../../crm/record.js';
import { wordsOfType } from '../../../events/describe.js';
import { compilePattern } from '../../../events/pattern.js';
import type { ChangeEvent } from '../../../events/types.js';

/** Fields with the id of another record. The more special one first: a memo's activity belongs to the memo, not to its person. */
const REFERENCES = [
  ['memoId', 'memo'],
  ['todoId', 'todo'],
  ['dealId', 'deal'],
  ['leadId', 'lead'],
  ['peopleId', 'person'],
  ['organizationId', 'organization'],
] as const;
/** A change of these says nothing about the records that they name: only their own counters follow. */
const WITHOUT_REFERENCES: readonly string[] = ['person', 'organization', 'deal', 'lead'];
const ACTIVITY = 'person_activity';
const keptBySystem = KEPT_BY_SYSTEM.map(compilePattern);

export interface Concerns {
  /** `person:<id>`; the first is the record that the event is about. */
  records: string[];
  /** What a row of a history says: the field, and its value after the change. */
  row: { field: string; value: unknown } | null;
  /** Made by a person or a program, and not only a consequence of another change. */
  edit: boolean;
}

export function concernsOf({ type, subject, data }: ChangeEvent): Concerns {
  const { object, verb } = wordsOfType(type);
  const record: UncheckedRecord | null = data.after ?? data.before;
  if (record === null || !type.startsWith('crm.')) return { records: [], row: null, edit: true };
  const history = (builtInLists.byObject(object) ?? readyMadeLists.byObject(object))?.history;
  if (history !== undefined) return concernsOfRow(record, history, data.actor?.type);
  const own = `${object}:${subject}`;
  if (object === ACTIVITY) return { records: referencesOf(record), row: null, edit: false };
  const records = WITHOUT_REFERENCES.includes(object) ? [own] : [own, ...referencesOf(record)];
  return { records, row: null, edit: data.class === 'edited' && verb !== 'snapshot' };
}

function concernsOfRow(record: UncheckedRecord, history: HistoryRole, by: string | undefined): Concerns {
  const records = history.of.flatMap(({ object, field }) => keyOf(object, record[field]));
  const field = record[history.changed];
  if (typeof field !== 'string' || field === '')
    return { records, row: null, edit: by !== undefined && by !== 'field' };
  const isKept = keptBySystem.some((matches) => matches(field));
  return { records, row: { field, value: record[history.value] }, edit: by !== 'field' && !isKept };
}

function referencesOf(record: UncheckedRecord): string[] {
  return REFERENCES.flatMap(([field, object]) => keyOf(object, record[field]));
}

function keyOf(object: string, id: unknown): string[] {
  return typeof id === 'string' && id !== '' ? [`${object}:${id}`] : [];
}
