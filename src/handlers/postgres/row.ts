/** The table row of an event's record. Pure. */
import type { ChangeEvent } from '../../events/types.js';
import { workspaceOf } from '../../events/envelope.js';
import { valueAtPath } from '../field-path.js';
import type { Column } from './table.js';
import { cleanText, toColumnValue, toJson } from './values.js';

export interface Row {
  /** `kept`: the image in the table stays. */
  image: 'replaced' | 'kept';
  /** In the order of the statement. */
  values: (string | null)[];
  /** Columns whose value does not have the column's type. */
  misfits: Column[];
}

export interface RowOptions {
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
  const read = columns.map((column) => ({
    column,
    value: toColumnValue(valueAtPath(image, column.field), column.type, timeZone),
  }));
  return {
    image: isDeleted && keepDeleted && image === null ? 'kept' : 'replaced',
    values: [
      workspaceOf(event),
      cleanText(event.subject),
      image === null ? null : toJson(image),
      String(sequence),
      Number.isNaN(Date.parse(event.time)) ? null : event.time,
      observedAt,
      String(isDeleted),
      ...read.map(({ value }) => (value.outcome === 'fits' ? value.text : null)),
    ],
    misfits: read.filter(({ value }) => value.outcome === 'misfit').map(({ column }) => column),
  };
}
