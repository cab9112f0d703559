/** The table row of an event's record. Pure. A value that does not fit its column is stored as NULL. */
import type { ChangeEvent } from '../../../events/types.js';
import { workspaceOf } from '../../../events/envelope.js';
import { dayIn, eventTime } from '../../../kit/iso-time.js';
import { nameIn } from '../../../words/format.js';
import { valueAtPath } from '../values.js';
import type { Column, ColumnType } from './table.js';

export interface Row {
  /** `kept`: the image in the table stays. */
  image: 'replaced' | 'kept';
  values: (string | null)[];
  /** Columns whose value does not have the column's type. */
  misfits: Column[];
}

interface RowOptions {
  columns: readonly Column[];
  timeZone: string;
  keepDeleted: boolean;
}

/** Null if the event does not describe the state of a record. */
export function rowOf(event: ChangeEvent, { columns, timeZone, keepDeleted }: RowOptions): Row | null {
  const { before, after, sequence, observedAt } = event.data;
  const isDeleted = event.type.endsWith('.deleted');
  if (!isDeleted && (after === null || !/\.(created|updated|snapshot)$/.test(event.type))) return null;
  const image = isDeleted ? (keepDeleted ? before : null) : after;
  const read = columns.map((column) => toColumnValue(valueAtPath(image, column.field), column.type, timeZone));
  return {
    image: isDeleted && keepDeleted && image === null ? 'kept' : 'replaced',
    values: [
      workspaceOf(event),
      cleanText(event.subject),
      image === null ? null : toJson(image),
      String(sequence),
      eventTime(event.time),
      observedAt,
      String(isDeleted),
      ...read.map((value) => value ?? null),
    ],
    misfits: columns.filter((_, index) => read[index] === undefined),
  };
}

/** Undefined: the value does not have the column's type. */
export function toColumnValue(value: unknown, type: ColumnType, timeZone: string): string | null | undefined {
  return value === null || value === undefined ? null : READERS[type](value, timeZone);
}

/** `jsonb` rejects NUL and lone surrogates, which the API sometimes sends: they become U+FFFD. */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value);
  // JSON escapes both of them and few other characters: most records need no further check.
  return /\\u(0000|d[89a-f])/.test(json) ? JSON.stringify(cleaned(value)) : json;
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleanText(key), cleaned(inner)]));
}

export function cleanText(text: string): string {
  return text.replace(/\0|\p{Surrogate}/gu, '\ufffd');
}

type ColumnReader = (value: unknown, timeZone: string) => string | undefined;

const READERS: Readonly<Record<ColumnType, ColumnReader>> = {
  text: readText,
  integer: (value) => readInteger(value, 2n ** 31n),
  bigint: (value) => readInteger(value, 2n ** 63n),
  numeric: readNumber,
  boolean: (value) => (typeof value === 'boolean' ? String(value) : undefined),
  timestamptz: (value) => readMoment(value)?.toISOString(),
  date: readDay,
  jsonb: toJson,
};

function readText(value: unknown): string {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const name = nameIn(value);
  return name === undefined ? toJson(value) : cleanText(name);
}

function readInteger(value: unknown, bound: bigint): string | undefined {
  const text = typeof value === 'number' && Number.isInteger(value) ? BigInt(value).toString() : value;
  if (typeof text !== 'string' || !/^-?\d{1,19}$/.test(text)) return undefined;
  const whole = BigInt(text);
  return whole >= -bound && whole < bound ? text : undefined;
}

function readNumber(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  return typeof value === 'string' && /^-?\d{1,100}(\.\d{1,100})?$/.test(value) ? value : undefined;
}

/** The CRM sends a day as a moment: midnight in the workspace's time zone. */
function readDay(value: unknown, timeZone: string): string | undefined {
  if (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value)) {
    return readMoment(value)?.toISOString().startsWith(value) === true ? value : undefined;
  }
  const moment = readMoment(value);
  return moment === undefined ? undefined : dayIn(timeZone, moment.getTime());
}

function readMoment(value: unknown): Date | undefined {
  const time = typeof value === 'string' ? eventTime(value) : null;
  return time === null ? undefined : new Date(time);
}
