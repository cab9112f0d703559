/** `postgres`: every list as a table that follows it. */
import { ChangefeedError } from '../../errors.js';
import { listOf } from '../../events/envelope.js';
import type { ListName } from '../../events/lists.js';
import type { ChangeEvent } from '../../events/types.js';
import type { HandlerContext, Subscription } from '../handler.js';
import { defineKind } from '../kind.js';
import { toSubscription } from '../options.js';
import { openDatabase, type Database } from './database.js';
import { databaseError, isTableGone } from './failure.js';
import { postgresSchema, type PostgresOptions, type PostgresSettings } from './options.js';
import { rowOf } from './row.js';
import {
  PRESENT_SQL,
  creationSql,
  missingOwn,
  presentValues,
  qualified,
  upsertSql,
  type Present,
  type Table,
} from './table.js';

/**
 * A subscription that mirrors each list as a table in PostgreSQL, which it makes itself: `workspace`, `id`, the record as
 * `jsonb` in `data`, its `sequence` and times, `deleted`, and the columns you choose. A row holds the newest state by
 * sequence, whatever comes late, twice or again; a removed record leaves its row, marked and emptied.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_DATABASE_FAILED`
 */
export function postgres(options: PostgresOptions): Subscription {
  return postgresKind.build(options, '');
}

export const postgresKind = defineKind('postgres', postgresSchema, (options) => createPostgres(options));

function createPostgres(settings: PostgresSettings): Subscription {
  const database = openDatabase(settings);
  const mirror: Mirror = { settings, database, ready: new Map(), warned: new Set() };
  return toSubscription(settings, {
    handler: 'postgres',
    handle: (event, context) => write(event, context, mirror),
    close: () => database.close(),
  });
}

interface Mirror {
  settings: PostgresSettings;
  database: Database;
  /** Tables looked at, made and completed. */
  ready: Map<ListName, Promise<void>>;
  /** Columns whose misfits have been told of once. */
  warned: Set<string>;
}

async function write(event: ChangeEvent, { signal, log }: HandlerContext, mirror: Mirror): Promise<void> {
  const { settings, database, ready, warned } = mirror;
  const list = listOf(event);
  if (list === undefined) return;
  const table = tableOf(list, settings);
  const row = rowOf(event, { ...settings, columns: table.columns });
  if (row === null) return;
  signal.throwIfAborted();
  for (const { name: column, type } of row.misfits) {
    const key = `${list} ${column}`;
    if (warned.has(key)) continue;
    warned.add(key);
    log.warn({ list, column, type }, 'a value does not fit its column and is null there; told once per column');
  }
  try {
    await readyTable(list, table, mirror);
    await database.query(upsertSql(table, row.image), row.values);
  } catch (error) {
    if (isTableGone(error)) ready.delete(list);
    if (error instanceof ChangefeedError) throw error;
    throw databaseError(error, { subscription: settings.name, place: database.place, table: qualified(table) });
  }
}

function tableOf(list: ListName, { schema, tables, columns }: PostgresSettings): Table {
  return { schema, name: tables[list] ?? list, columns: columns[list] ?? [] };
}

/** Once per list and process; a failure is the next event's to try again. */
function readyTable(list: ListName, table: Table, mirror: Mirror): Promise<void> {
  const known = mirror.ready.get(list);
  if (known !== undefined) return known;
  const making = makeTable(table, mirror);
  mirror.ready.set(list, making);
  making.catch(() => mirror.ready.delete(list));
  return making;
}

async function makeTable(table: Table, { settings: { name: subscription }, database }: Mirror): Promise<void> {
  const [present] = await database.query<Present>(PRESENT_SQL, presentValues(table));
  if (present === undefined)
    throw new ChangefeedError('CF_INTERNAL', { message: 'PostgreSQL answered a question with no row.' });
  const missing = missingOwn(present);
  if (missing.length > 0) {
    throw new ChangefeedError('CF_DATABASE_FAILED', {
      message: `Postgres "${subscription}": ${database.place} has a table ${qualified(table)} of another make (without ${missing.join(', ')}). Nothing was written; choose another schema or tables, or move that table away.`,
      subscription,
    });
  }
  const sql = creationSql(table, present);
  if (sql !== '') await database.query(sql);
}
