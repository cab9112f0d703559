/** `postgres`: mirrors every list in a table. */
import { z } from 'zod';
import { ChangefeedError } from '../../../kit/errors.js';
import { listOf, workspaceOf } from '../../../events/envelope.js';
import { SNAPSHOT_COMPLETE } from '../../../events/notices.js';
import { LIST_NAMES, type ListName } from '../../../crm/lists/lists.js';
import type { ChangeEvent } from '../../../events/types.js';
import { requireOptionalPackage } from '../../../kit/optional-package.js';
import { DEFAULT_TIME_ZONE, strictOptions, text, timeZone, wholeNumber, yesOrNo } from '../../../kit/schema/fields.js';
import { secret } from '../../../kit/schema/secret.js';
import { timeOfDay } from '../digest.js';
import type { HandlerContext, Obstacle, Reached, WrittenRow } from '../handler.js';
import { defineKind, kindOptions, type OpenedKind } from '../kind.js';
import { isInClear, openDatabase, readUrl, type Database } from './database.js';
import { connectionProblem, databaseFailure, isTableGone, sqlStateOf, unreachable } from './failed-statement.js';
import {
  LONGEST_WITH_HISTORY,
  eraseVersionsSql,
  goneVersionsSql,
  historyCreationSql,
  historyNames,
  missingVersionColumns,
  newestVersion,
  presentHistoryQuery,
  versionSql,
  versionsOf,
  type PresentHistory,
} from './history.js';
import { cleanText, rowOf, toJson } from './row.js';
import {
  A_NAME,
  COLUMN_TYPES,
  OWN_COLUMNS,
  contentsSql,
  creationSql,
  eraseSql,
  goneSql,
  isIdentifier,
  isReserved,
  misfitTexts,
  missingOwn,
  presentQuery,
  qualified,
  rowsSql,
  upsertSql,
  type Present,
  type Table,
} from './table.js';

const A_URL = 'a URL such as postgres://user:password@host:5432/database (a % in it is written %25)';
const A_TYPE = `${COLUMN_TYPES.join(', ')}, or { field, type } with one of these`;
const A_COLUMN = `${A_NAME}, other than ${OWN_COLUMNS.join(', ')} and PostgreSQL's own (ctid, xmin …)`;

const identifier = z.string({ error: A_NAME }).refine(isIdentifier, { error: A_NAME });
const aText = text('a text');
const databaseUrl = secret(z.string({ error: A_URL }).refine((url) => readUrl(url) !== undefined, { error: A_URL }));
const columnType = z.enum(COLUMN_TYPES, { error: A_TYPE });

const columnOptions = strictOptions({
  /** The field, or a path into it (`담당자.name`). @defaultValue the column's name */
  field: aText.optional(),
  /** The PostgreSQL type of the column. */
  type: columnType,
});

const columns = z
  .record(z.string(), z.union([columnType, columnOptions], { error: A_TYPE }), {
    error: 'an object of types by name of column',
  })
  .readonly()
  .superRefine((given, context) => {
    for (const name of Object.keys(given)) {
      if (isIdentifier(name) && !isReserved(name)) continue;
      context.addIssue({ code: 'custom', path: [name], message: `under the name of ${A_COLUMN}` });
    }
  })
  .transform((given) =>
    Object.entries(given).map(([name, value]) =>
      typeof value === 'string'
        ? { name, field: name, type: value }
        : { name, field: value.field ?? name, type: value.type },
    ),
  );

const postgresOptions = kindOptions({
  /** Number of records one process writes at the same time. @defaultValue 20 */
  concurrency: wholeNumber(1, 1_000).default(20),
  /** `postgres://user:password@host:5432/database`. Parts that it leaves out come from `PGHOST`, `PGPASSWORD` and the other `PG…` variables. */
  url: databaseUrl,
  /** The schema of the tables. It is created if it does not exist. @defaultValue 'crm' */
  schema: identifier.default('crm'),
  /** Table names by list. @defaultValue each list's own name */
  tables: byList(identifier).default({}),
  /**
   * Columns in addition to the whole record, by list: the column's name, and its type or `{ field, type }`. Without `field` the
   * column takes the field of the same name. @defaultValue none
   */
  columns: byList(columns).default({}),
  /** The time zone that decides the day of a time in a `date` column. @defaultValue 'Asia/Seoul' */
  timeZone: timeZone.default(DEFAULT_TIME_ZONE),
  /**
   * At this time of day, in the time zone of the workspace, the tables are compared with the lists, as by `changefeed verify`. `status` and
   * `problems` say what was found. @defaultValue only when it is asked for
   */
  verify: timeOfDay.optional(),
  /** True: the row of a removed record keeps its last contents. False: it keeps only id, sequence and times. @defaultValue false */
  keepDeleted: yesOrNo.default(false),
  /**
   * Also keeps every version of each record: a table `<name>_versions`, to which rows are only added, a view `<name>_timeline` with `valid_from`
   * and `valid_to`, and a function `<name>_as_of(time)`. They are never shortened. @defaultValue false
   */
  history: yesOrNo.default(false),
});

const postgresSchema = postgresOptions.superRefine(({ tables, history }, context) => {
  const lists = [...new Set([...LIST_NAMES, ...Object.keys(tables)])];
  const named = lists.map((list) => tables[list] ?? list);
  const names = history ? named.flatMap((name) => [name, ...historyNames(name)]) : named;
  for (const [list, name = list] of Object.entries(tables)) {
    const own = history ? [name, ...historyNames(name)] : [name];
    const isTaken = own.some((one) => names.indexOf(one) !== names.lastIndexOf(one));
    const isLong = history && Buffer.byteLength(name) > LONGEST_WITH_HISTORY;
    if (!isTaken && !isLong) continue;
    const message = isTaken
      ? 'a name that no other list has'
      : `with \`history\`, a name of at most ${LONGEST_WITH_HISTORY} bytes`;
    context.addIssue({ code: 'custom', path: ['tables', list], message });
    return;
  }
});

/** Options of `postgres`. */
export type PostgresOptions = z.input<typeof postgresSchema>;
/** A further column: its type, and the field that fills it. */
export type ColumnOptions = z.input<typeof columnOptions>;
type PostgresSettings = z.output<typeof postgresSchema>;

/** The configuration checks whether the lists exist (`namedLists`). */
function byList<Value extends z.ZodType>(value: Value): z.ZodType<ByList<z.output<Value>>, ByList<z.input<Value>>> {
  return z.record(z.string(), value, { error: 'an object whose keys are names of lists' });
}

type ByList<Value> = Partial<Record<ListName, Value>>;

/**
 * A subscription that mirrors each list in a PostgreSQL table, which it creates itself: `workspace`, `id`, the record as
 * `jsonb` in `data`, its `sequence` and times, `deleted`, and the columns you choose. A row has the newest state by
 * sequence, even if events arrive late or repeatedly. The row of a removed record stays, marked as deleted and emptied.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_DATABASE_FAILED`
 */
export const postgres = defineKind({
  name: 'postgres',
  words: { en: 'PostgreSQL', ko: 'PostgreSQL' },
  options: postgresSchema,
  open: openPostgres,
});

function openPostgres(settings: PostgresSettings): OpenedKind {
  requireOptionalPackage('pg', `The handler postgres of the subscription "${settings.name}"`);
  const database = openDatabase(settings);
  const mirror: Mirror = { settings, database, ready: new Map(), warned: new Set() };
  return {
    afterRewind: 'snapshot',
    deliver: (event, context) => write(event, context, mirror),
    failure(thrown, { event, list }) {
      const table = tableOf(event === null ? '' : (listIn(event, list) ?? ''), settings);
      return databaseFailure(thrown, { place: database.place, table: qualified(table) });
    },
    namedLists: [...Object.keys(settings.tables), ...Object.keys(settings.columns)],
    reach: () => reach(settings.name, mirror),
    misfit: () => findMisfit(mirror).catch(() => null),
    erase: (record) => erase(record, mirror),
    copy: { rows: (place) => readRows(place, mirror), contents: (of) => readContents(of, mirror) },
    ...(settings.verify !== undefined && { verify: { when: { at: settings.verify }, days: EVERY_DAY } }),
    inClear: isInClear(settings.url) ? 'add ?sslmode=verify-full to url' : undefined,
    close: () => database.close(),
  };
}

async function reach(subscription: string, mirror: Mirror): Promise<Reached> {
  const { place } = mirror.database;
  const found = await findMisfit(mirror).catch((error: unknown) => {
    const { problem: reason, remedy } = connectionProblem(error);
    return { reason, remedy };
  });
  if (found === null) return { place, problem: null };
  return { place, problem: `Postgres "${subscription}": ${place}: ${found.reason}.`, remedy: found.remedy };
}

/** A column of another type would fail each event of its table. */
async function findMisfit({ settings, database }: Mirror): Promise<Obstacle | null> {
  await database.query('SELECT 1');
  const tables = Object.keys(settings.columns).map((list) => tableOf(list, settings));
  const found = tables.map(async (table) => {
    const [present] = await database.query<Present>(...presentQuery(table));
    return present?.misfits.map((misfit) => misfitTexts(table, misfit)) ?? [];
  });
  return (await Promise.all(found)).flat()[0] ?? null;
}

interface Mirror {
  settings: PostgresSettings;
  database: Database;
  ready: Map<ListName, Promise<void>>;
  warned: Set<string>;
}

async function write(
  event: ChangeEvent,
  { signal, log, list: further }: HandlerContext,
  mirror: Mirror,
): Promise<void> {
  const { settings, database, ready } = mirror;
  const list = listIn(event, further);
  if (list === null) return;
  const table = tableOf(list, settings);
  const statement =
    event.type === SNAPSHOT_COMPLETE ? goneStatement(event, table, settings) : upsertStatement(event, table, settings);
  if (statement === null) return;
  const misfits = statement.misfits.filter(({ name }) => !mirror.warned.has(`${list} ${name}`));
  for (const { name: column, type } of misfits) {
    mirror.warned.add(`${list} ${column}`);
    log.warn({ list, column, type }, 'value does not fit column type, NULL stored (logged once per column)');
  }
  signal.throwIfAborted();
  try {
    await readyTable(list, table, mirror);
    await database.query(statement.sql, statement.values);
  } catch (error) {
    if (isTableGone(error)) ready.delete(list);
    throw error;
  }
}

/** @param further of an event of the workspace's own lists */
function listIn(event: ChangeEvent, further: ListName | null): ListName | null {
  return (event.type === SNAPSHOT_COMPLETE ? event.data.notice?.list : listOf(event)) ?? further;
}

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7];
const ROWS_AT_ONCE = 1_000;

type Place = { workspace: string; list: ListName };

async function* readRows({ workspace, list }: Place, mirror: Mirror): AsyncGenerator<WrittenRow[]> {
  const table = tableOf(list, mirror.settings);
  for (let after = ''; ;) {
    const values = [workspace, after, ROWS_AT_ONCE];
    const rows = await readTable<{ id: string; sequence: string; deleted: boolean }>(
      table,
      rowsSql(table, newestIn(table, mirror)),
      values,
      mirror,
    );
    yield rows.map(({ id, sequence, deleted }) => ({ id, sequence: Number(sequence), deleted }));
    after = rows.at(-1)?.id ?? '';
    if (rows.length < ROWS_AT_ONCE) return;
  }
}

async function readContents({ workspace, list, ids }: Place & { ids: readonly string[] }, mirror: Mirror) {
  const table = tableOf(list, mirror.settings);
  const rows = await readTable<{ id: string; data: unknown }>(
    table,
    contentsSql(table, newestIn(table, mirror)),
    [workspace, ids],
    mirror,
  );
  return new Map(rows.flatMap(({ id, data }) => (typeof data === 'object' && data !== null ? [[id, data]] : [])));
}

function newestIn(table: Table, { settings }: Mirror) {
  return settings.history ? newestVersion(table) : undefined;
}

/** A table that does not exist has no rows. */
async function readTable<Row extends object>(
  table: Table,
  sql: string,
  values: readonly unknown[],
  { settings, database }: Mirror,
): Promise<Row[]> {
  try {
    return await database.query<Row>(sql, values);
  } catch (error) {
    if (['42P01', '3F000'].includes(sqlStateOf(error) ?? '')) return [];
    const { problem, remedy } = connectionProblem(error);
    const message = `Postgres "${settings.name}": ${database.place}, table ${qualified(table)}: it was not read: ${problem}. ${remedy}`;
    throw new ChangefeedError('CF_DATABASE_FAILED', {
      message,
      subscription: settings.name,
      sqlState: sqlStateOf(error),
    });
  }
}

async function erase(
  { workspace, list, id }: { workspace: string; list: ListName; id: string },
  { settings, database }: Mirror,
): Promise<number> {
  const table = tableOf(list, settings);
  try {
    const values = [workspace, cleanText(id)];
    if (settings.history)
      await database.query(eraseVersionsSql(table), values).catch((error: unknown) => {
        if (!isTableGone(error)) throw error;
      });
    return (await database.query(eraseSql(table), values)).length;
  } catch (error) {
    if (isTableGone(error)) return 0;
    // The message of the database may quote the id.
    const state = sqlStateOf(error);
    const why = state === undefined ? unreachable(error) : `SQLSTATE ${state}`;
    const message = `Postgres "${settings.name}": ${database.place}, table ${qualified(table)}: the row was not erased (${why}).`;
    throw new ChangefeedError('CF_DATABASE_FAILED', { message, subscription: settings.name, sqlState: state });
  }
}

function upsertStatement(event: ChangeEvent, table: Table, settings: PostgresSettings) {
  const row = rowOf(event, { ...settings, columns: table.columns });
  if (row === null) return null;
  const sql = upsertSql(table, row.image);
  if (!settings.history) return { ...row, sql };
  const { actor, changes } = event.data;
  const hasChanges = event.type.endsWith('.updated');
  const values = [...row.values, cleanText(event.id), actor === undefined ? null : toJson(actor), toJson(changes)];
  return { ...row, sql: `${versionSql({ table, first: row.values.length + 1, hasChanges })} ${sql}`, values };
}

/** After a snapshot, marks the rows that it did not show: their records are gone, and Redis has forgotten them. */
function goneStatement(event: ChangeEvent, table: Table, { keepDeleted, history }: PostgresSettings) {
  const values = [workspaceOf(event), String(event.data.sequence), event.data.observedAt];
  const sql = goneSql(table, { keepDeleted });
  if (!history) return { sql, values, misfits: [] };
  return { sql: goneVersionsSql(table, sql), values: [...values, cleanText(event.id)], misfits: [] };
}

function tableOf(list: ListName, { schema, tables, columns }: PostgresSettings): Table {
  return { schema, name: tables[list] ?? list, columns: columns[list] ?? [] };
}

/** Once per list and process; after a failure the next event tries again. */
function readyTable(list: ListName, table: Table, mirror: Mirror): Promise<void> {
  const known = mirror.ready.get(list);
  if (known !== undefined) return known;
  const making = makeTable(table, mirror);
  mirror.ready.set(list, making);
  making.catch(() => mirror.ready.delete(list));
  return making;
}

async function makeTable(table: Table, mirror: Mirror): Promise<void> {
  const { settings, database } = mirror;
  const { name: subscription } = settings;
  const [present = { hasSchema: false, columns: null, misfits: [] }] = await database.query<Present>(
    ...presentQuery(table),
  );
  refuseForeign(table, missingOwn(present), mirror);
  const [misfit] = present.misfits;
  if (misfit !== undefined) {
    const { reason, remedy } = misfitTexts(table, misfit);
    const message = `Postgres "${subscription}": ${database.place}: ${reason}. To repair it, ${remedy}. The event is tried again.`;
    throw new ChangefeedError('CF_DATABASE_FAILED', { message, subscription });
  }
  const sql = creationSql(table, present, settings.history ? await missingHistory(table, mirror) : []);
  if (sql !== '') await database.query(sql);
}

async function missingHistory(table: Table, mirror: Mirror): Promise<string[]> {
  const nothing: PresentHistory = { versions: null, isWhole: false };
  const [present = nothing] = await mirror.database.query<PresentHistory>(...presentHistoryQuery(table));
  refuseForeign(versionsOf(table), missingVersionColumns(present), mirror);
  return historyCreationSql(table, present);
}

/** @param missing columns of ours that an existing table does not have */
function refuseForeign(table: Table, missing: readonly string[], { settings, database }: Mirror): void {
  if (missing.length === 0) return;
  const subscription = settings.name;
  throw new ChangefeedError('CF_DATABASE_FAILED', {
    message: `Postgres "${subscription}": ${database.place} has a table ${qualified(table)} that was not created by Changefeed (without ${missing.join(', ')}). Nothing was written; choose another schema or tables, or rename that table.`,
    subscription,
  });
}
