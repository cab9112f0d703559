/** Connections to one database, opened when the first event needs one. Does not know events. */
import type * as Pg from 'pg';
import { importOptionalPackage } from '../../../kit/optional-package.js';
import { isPublicHost } from '../../../kit/schema/addresses.js';
import { isBadEscape } from '../../../kit/schema/redis-url.js';

export type Database = ReturnType<typeof openDatabase>;

// With more connections the database itself is the limit.
const MOST_CONNECTIONS = 10;
const CONNECT_MS = 10_000;

/** @param settings `timeout` in ms */
export function openDatabase(settings: { url: string; concurrency: number; timeout: number }) {
  let opening: Promise<Pg.Pool> | undefined;
  const opened = (): Promise<Pg.Pool> => (opening ??= openPool(settings));
  return {
    place: placeOf(settings.url),
    async query<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
      // Without values, a text of several statements can be run.
      const { rows } = await (await opened()).query<Row>(sql, values.length === 0 ? undefined : [...values]);
      return rows;
    },
    async close(): Promise<void> {
      const closing = opening;
      opening = undefined;
      await (await closing)?.end();
    },
  };
}

async function openPool({ url, concurrency, timeout }: Parameters<typeof openDatabase>[0]): Promise<Pg.Pool> {
  // Loaded only if a postgres subscription exists.
  const { default: pg } = await importOptionalPackage<typeof Pg>('pg');
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'crm-changefeed',
    max: Math.min(concurrency, MOST_CONNECTIONS),
    connectionTimeoutMillis: Math.min(timeout, CONNECT_MS),
    // A client-side timeout: connection poolers reject the setting for a server-side one.
    query_timeout: timeout,
    allowExitOnIdle: true,
  });
  // The next query replaces an idle connection that breaks. Without a listener it would end the process.
  pool.on('error', ignore);
  return pool;
}

function ignore(): void {
  // The statement that was running reports the error.
}

const NO_HOST = 'socket.invalid';

/** With or without a host (a socket has none); undefined if it is not a PostgreSQL URL. */
export function readUrl(text: string): URL | undefined {
  if (!/^postgres(ql)?:\/\//.test(text)) return undefined;
  // `postgres://user@/database?host=/run/postgresql`: only PostgreSQL accepts a user without a host.
  const whole = text.replace(/^([a-z]+:\/\/[^/?#]*)@(?=[/?#])/, `$1@${NO_HOST}`);
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  return url === undefined || isBadEscape(url) ? undefined : url;
}

/** The driver encrypts with every `sslmode` but `disable`. */
export function isInClear(text: string): boolean {
  const { hostname, searchParams } = readUrl(text) ?? new URL('postgres:');
  const host = searchParams.get('host') ?? (hostname === NO_HOST ? '' : hostname);
  const mode = searchParams.get('sslmode') ?? process.env['PGSSLMODE'] ?? 'disable';
  const isEncrypted = mode !== 'disable' || /^(true|1)$/.test(searchParams.get('ssl') ?? '');
  return !isEncrypted && !host.startsWith('/') && isPublicHost(host);
}

/** Host, port and database, for messages. Never user, password or query. */
export function placeOf(text: string): string {
  const url = readUrl(text);
  const named = url?.hostname === NO_HOST ? '' : decodeURIComponent(url?.hostname ?? '');
  const host = url?.searchParams.get('host') ?? named;
  const port = url === undefined || url.port === '' ? '' : `:${url.port}`;
  return `${host === '' ? 'PostgreSQL' : host}${port}${url?.pathname.replace(/^\/$/, '') ?? ''}`;
}
