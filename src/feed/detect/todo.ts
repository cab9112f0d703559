/** Reads a todo: whether it is done, when it is due, who owns it. Understands both spellings that servers use. */
import { Temporal } from 'temporal-polyfill';
import type { UncheckedRecord } from '../../crm/record.js';
import { eventTime } from '../../kit/iso-time.js';
import { TODO_FIELDS, dueText, firstValue } from '../../crm/todo-fields.js';
import { creationTimeOf } from './fields.js';

export interface TodoSide {
  /** Null: the record does not say. */
  done: boolean | null;
  due: string | null;
  /** Null: no owner. */
  owner: string | null;
}

export function todoSide(record: UncheckedRecord): TodoSide {
  const due = dueText(record);
  return { done: isDone(record), due: instantOf(due) ?? due, owner: ownerOf(record)?.id ?? null };
}

/** The flag decides. Without a flag, the date of completion does, if the record has that field. */
export function isDone(record: UncheckedRecord): boolean | null {
  const flag = firstValue(record, TODO_FIELDS.done);
  if (typeof flag === 'boolean') return flag;
  const at = firstValue(record, TODO_FIELDS.doneAt);
  return at === undefined ? null : at !== null && at !== '';
}

/** ISO 8601; null when the todo is not done or does not say when. */
export function doneAtOf(record: UncheckedRecord): string | null {
  return instantOf(textOrNull(firstValue(record, TODO_FIELDS.doneAt)));
}

export function ownerOf(record: UncheckedRecord): { id: string; name: string } | null {
  return referenceOf(firstValue(record, TODO_FIELDS.owner));
}

export function teamsOf(record: UncheckedRecord): { id: string; name: string }[] {
  const teams = firstValue(record, TODO_FIELDS.teams);
  return Array.isArray(teams) ? teams.flatMap((team) => referenceOf(team) ?? []) : [];
}

/** ISO 8601. */
export function createdAtOf(record: UncheckedRecord): string | null {
  return instantOf(creationTimeOf(record));
}

function referenceOf(value: unknown): { id: string; name: string } | null {
  if (typeof value !== 'object' || value === null) return null;
  const { id, name } = value as { id?: unknown; name?: unknown };
  return typeof id === 'string' ? { id, name: typeof name === 'string' ? name : id } : null;
}

/** Ms. A date without a time (some servers send midnight of the workspace) lasts until that day ends. */
export function deadlineOf(record: UncheckedRecord, timeZone: string): number | null {
  const text = dueText(record);
  if (text === null) return null;
  if (/^\d{4}-\d{2}-\d{2}$/u.test(text)) return endOfDay(text, timeZone);
  const iso = instantOf(text);
  if (iso === null) return null;
  const due = Temporal.Instant.from(iso).toZonedDateTimeISO(timeZone);
  return due.equals(due.startOfDay()) ? startOfNext(due) : due.epochMilliseconds;
}

function endOfDay(date: string, timeZone: string): number | null {
  try {
    return startOfNext(Temporal.PlainDate.from(date).toZonedDateTime({ timeZone }));
  } catch {
    return null;
  }
}

function startOfNext(day: Temporal.ZonedDateTime): number {
  return day.add({ days: 1 }).startOfDay().epochMilliseconds;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Timestamps are UTC (section 2 of the interface), also without a zone. */
function instantOf(text: string | null): string | null {
  return text?.includes('T') === true ? eventTime(text) : null;
}
