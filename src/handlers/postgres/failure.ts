/** What a failed statement means for the event, and its message without record contents. Pure. */
import { ChangefeedError, messageOf } from '../../errors.js';
import { printable, shorten } from '../../runtime/printable.js';
import { PermanentError } from '../errors.js';

interface FailureContext {
  subscription: string;
  /** Host and database. */
  place: string;
  /** Qualified and quoted. */
  table: string;
}
/** Tables that were dropped while the process runs are created again at the next attempt. */
export function isTableGone(error: unknown): boolean {
  return ['42P01', '3F000', '42703'].includes(sqlStateOf(error) ?? '');
}

export function databaseError(error: unknown, { subscription, place, table }: FailureContext): Error {
  const start = `Postgres "${subscription}": ${place}`;
  const state = sqlStateOf(error);
  const failed = (message: string, cause?: unknown): ChangefeedError =>
    new ChangefeedError('CF_DATABASE_FAILED', { message, cause, subscription, sqlState: state });
  if (state === undefined) return failed(`${start} ${unreachable(error)}. The event is tried again.`, error);
  if (/^2[23]/.test(state)) {
    // The database's message quotes the value and its details the whole row: neither may be shown or kept as cause.
    const message = `${start} rejected the record for ${table} (SQLSTATE ${state}): a value does not fit, or a rule of the table forbids it. Compare the table with the subscription's columns.`;
    return new PermanentError(message, { cause: failed(message) });
  }
  const remedy = [remedyOf(state), 'The event is tried again.'].join(' ').trim();
  return failed(`${start}, table ${table}: ${saying(error, state)}. ${remedy}`, error);
}

function unreachable(error: unknown): string {
  return `could not be reached (${(error as NodeJS.ErrnoException).code ?? messageOf(error)})`;
}

function saying(error: unknown, state: string): string {
  return `${shorten(printable(messageOf(error)), 200)} (SQLSTATE ${state})`;
}

/** What is wrong when nothing can be asked, and what to do. */
export function connectionProblem(error: unknown): { problem: string; remedy: string } {
  const state = sqlStateOf(error);
  if (state === undefined)
    return { problem: unreachable(error), remedy: 'Start PostgreSQL, or correct url; check DNS and firewalls.' };
  return { problem: saying(error, state), remedy: remedyOf(state) ?? 'Look into the log of PostgreSQL.' };
}

function remedyOf(state: string): string | undefined {
  if (state.startsWith('28')) return 'Check user and password.';
  if (state === '3D000') return 'Create the database first.';
  if (state === '42501') return 'Give this user the right to it, or have another create schema and tables.';
  return state === '42804' ? 'The column has another type; change it, or the subscription.' : undefined;
}

function sqlStateOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
