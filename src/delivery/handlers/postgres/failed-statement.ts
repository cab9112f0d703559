/** Explains a statement that failed: its meaning and what to do. Never shows the contents of a row, which messages of PostgreSQL quote. */
import { messageOf, reasonOfConnection } from '../../../kit/errors.js';
import { printable, shorten } from '../../../kit/printable.js';
import type { DeliveryFailure } from '../failed-delivery.js';

/** Tables that were dropped while the process runs are created again at the next attempt. */
export function isTableGone(error: unknown): boolean {
  return ['42P01', '3F000', '42703'].includes(sqlStateOf(error) ?? '');
}

/** The meaning of a failed statement, without record contents. `table` is qualified and quoted. */
export function databaseFailure(error: unknown, { place, table }: { place: string; table: string }): DeliveryFailure {
  const state = sqlStateOf(error);
  const code = 'CF_DATABASE_FAILED';
  if (state === undefined)
    return { code, message: `${place} ${unreachable(error)}. The event is tried again.`, cause: error };
  const about = { code, facts: { sqlState: state } } as const;
  if (/^2[23]/.test(state)) {
    // Retrying cannot help. The database's message and details quote the row: neither may be shown or kept.
    const message = `${place} rejected the record for ${table} (SQLSTATE ${state}): a value does not fit, or a rule of the table forbids it. Compare the table with the subscription's columns.`;
    return { ...about, then: 'dead', message };
  }
  const remedy = [remedyOf(state), 'The event is tried again.'].join(' ').trim();
  if (OWN_WORDS.test(state))
    return { ...about, message: `${place}, table ${table}: ${saying(error, state)}. ${remedy}`, cause: error };
  const message = `${place}, table ${table}: PostgreSQL refused it (SQLSTATE ${state}). ${remedy}`;
  return { ...about, message, said: messageOf(error) };
}

/** Connection, sign-in, database, rights, resources, shutdown. Any other message may quote the row. */
const OWN_WORDS = /^(08|28|3D|53|57|42501$)/;

export function unreachable(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return `could not be reached (${code === undefined ? messageOf(error) : reasonOfConnection(error)})`;
}

function saying(error: unknown, state: string): string {
  return `${shorten(printable(messageOf(error)), 200)} (SQLSTATE ${state})`;
}

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

export function sqlStateOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
