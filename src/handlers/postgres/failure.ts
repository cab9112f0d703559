/** What a failed statement means for the event, and how it is told without showing what stands in a record. Pure. */
import { ChangefeedError, messageOf } from '../../errors.js';
import { PermanentError } from '../errors.js';

export interface FailureContext {
  subscription: string;
  /** Host and database. */
  place: string;
  /** As statements write it. */
  table: string;
}

/** Tables that went away while we ran are made anew at the next try. */
export function isTableGone(error: unknown): boolean {
  return ['42P01', '3F000', '42703'].includes(sqlStateOf(error) ?? '');
}

export function databaseError(error: unknown, { subscription, place, table }: FailureContext): Error {
  const start = `Postgres "${subscription}": ${place}`;
  const state = sqlStateOf(error);
  const failed = (message: string, cause?: unknown): ChangefeedError =>
    new ChangefeedError('CF_DATABASE_FAILED', { message, cause, subscription, sqlState: state });
  if (state === undefined) {
    const code = (error as NodeJS.ErrnoException).code;
    return failed(`${start} could not be reached (${code ?? messageOf(error)}). The event is tried again.`, error);
  }
  if (/^2[23]/.test(state)) {
    // Its words quote the value, and its details the whole row: neither is told, nor kept as a cause.
    const message = `${start} did not take the record into ${table} (SQLSTATE ${state}): a value or a rule of the table stands against it. Compare the table with the subscription's columns.`;
    return new PermanentError(message, { cause: failed(message) });
  }
  const words = messageOf(error).replace(/\s+/g, ' ').slice(0, 200);
  return failed(
    `${start}, table ${table}: ${words} (SQLSTATE ${state})${hintOf(state)}. The event is tried again.`,
    error,
  );
}

function hintOf(state: string): string {
  if (state.startsWith('28')) return ': check user and password';
  if (state === '3D000') return ': create the database first';
  if (state === '42501') return ': give this user the right to it, or have another create schema and tables';
  if (state === '42804') return ': the column has another type; change it, or the subscription';
  return '';
}

function sqlStateOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
