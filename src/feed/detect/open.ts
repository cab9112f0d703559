/** Which records are open (`open` of the list's descriptor), and how likely these are to change soon. Pure. */
import type { ListDescriptor } from '../../crm/lists/descriptor.js';
import type { UncheckedRecord } from '../../crm/record.js';
import { firstValue } from '../../crm/todo-fields.js';

/** The hour at which each open record is due, since the epoch; null where it does not say. */
export type OpenRecords = readonly (number | null)[];

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** A record without a due date is as likely to change as one that is due in a week. */
const NO_DATE_HOURS = 7 * DAY_HOURS;

/** @param page its records are parsed for a list that has open ones */
export function openRecords(page: { readonly records: readonly UncheckedRecord[] }, list: ListDescriptor): OpenRecords {
  const { open } = list;
  if (open === undefined) return [];
  const [fields, due] = [spellingsOf(list, open.field), spellingsOf(list, open.due)];
  const isOpen = (record: UncheckedRecord): boolean => {
    const value = firstValue(record, fields);
    return value !== undefined && !open.closed.includes(typeof value === 'string' ? value.normalize('NFC') : value);
  };
  return page.records.filter(isOpen).map((record) => hourOf(firstValue(record, due)));
}

/** How many records that are due now are as likely to change. */
export function openWeight(open: OpenRecords, nowMs: number): number {
  const now = nowMs / HOUR_MS;
  const away = (due: number | null): number => (due === null ? NO_DATE_HOURS : Math.abs(due - now));
  return open.reduce<number>((sum, due) => sum + DAY_HOURS / (DAY_HOURS + away(due)), 0);
}

function spellingsOf({ spellings }: ListDescriptor, field: string | undefined): readonly string[] {
  if (field === undefined) return [];
  return [field, ...Object.keys(spellings).filter((other) => spellings[other] === field)];
}

function hourOf(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? null : Math.round(ms / HOUR_MS);
}
