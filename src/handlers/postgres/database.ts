/** Connections to one database, opened when the first event needs one. Does not know events. */
import type { Pool, PoolConfig } from 'pg';
import { placeOf, writePlace } from './address.js';
import type { PostgresSettings } from './options.js';

export interface Database {
  /** Host and database, for messages. Never user or password. */
  readonly place: string;
  query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** All of them or none. */
  transaction(statements: readonly Statement[]): Promise<void>;
  close(): Promise<void>;
}

export interface Statement {
  sql: string;
  values: readonly unknown[];
}

// With more connections the database itself is the limit.
const MOST_CONNECTIONS = 10;
const CONNECT_MS = 10_000;

type DatabaseSettings = Pick<PostgresSettings, 'url' | 'connection' | 'concurrency' | 'timeout'>;

export function openDatabase(settings: DatabaseSettings): Database {
  let opening: Promise<Pool> | undefined;
  return {
    place: settings.url === undefined ? writePlace(settings.connection ?? {}) : placeOf(settings.url),
    async query<Row extends object>(sql: string, values?: readonly unknown[]) {
      const pool = await (opening ??= openPool(settings));
      const { rows } = await pool.query<Row>(sql, values === undefined ? undefined : [...values]);
      return rows;
    },
    async transaction(statements) {
      const pool = await (opening ??= openPool(settings));
      const client = await pool.connect();
      // A broken connection fails its statements, which is enough. Without a listener it would also end the process.
      client.on('error', ignore);
      try {
        await client.query('BEGIN');
        for (const { sql, values } of statements) await client.query(sql, [...values]);
        await client.query('COMMIT');
        client.off('error', ignore);
        client.release();
      } catch (error) {
        // Closed instead of returned to the pool: its state is not known.
        client.release(true);
        throw error;
      }
    },
    async close() {
      const closing = opening;
      opening = undefined;
      await (await closing)?.end();
    },
  };
}

async function openPool({ url, connection, concurrency, timeout }: DatabaseSettings): Promise<Pool> {
  // Loaded only if a postgres subscription exists.
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    ...(url === undefined ? given(connection ?? {}) : { connectionString: url }),
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

/** The driver reads `PGHOST` and similar variables only for properties that are absent, not for undefined ones. */
function given(connection: NonNullable<PostgresSettings['connection']>): PoolConfig {
  return Object.fromEntries(Object.entries(connection).filter(([, value]) => value !== undefined));
}
