/**
 * One list's table: what it consists of, and the statements that make and keep it. Pure.
 *
 * A row is a record's newest state by its sequence. The guard stands in the one statement that writes, so that it holds
 * whoever writes at the same time: an event that is late, repeated or replayed finds a row as new as itself, and changes
 * nothing. A removed record keeps its row (marked, and emptied) for the same reason: without it, a late `updated` would
 * bring the record back.
 */
import { quote } from './identifiers.js';

export const COLUMN_TYPES = [
  'text',
  'integer',
  'bigint',
  'numeric',
  'boolean',
  'timestamptz',
  'date',
  'jsonb',
] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

export interface Column {
  name: string;
  /** The field, or a path into it. */
  field: string;
  type: ColumnType;
}

export interface Table {
  schema: string;
  name: string;
  columns: readonly Column[];
}

const OWN = [
  ['workspace', 'text NOT NULL'],
  ['id', 'text NOT NULL'],
  ['data', 'jsonb'],
  ['sequence', 'bigint NOT NULL'],
  ['updated_at', 'timestamptz'],
  ['observed_at', 'timestamptz NOT NULL'],
  ['deleted', 'boolean NOT NULL DEFAULT false'],
] as const;
export const OWN_COLUMNS = OWN.map(([name]) => name);
const SYSTEM_COLUMNS = ['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'];

export function isReserved(column: string): boolean {
  return [...OWN_COLUMNS, ...SYSTEM_COLUMNS].includes(column);
}

/** The table's name as statements take it. */
export function qualified({ schema, name }: Table): string {
  return `${quote(schema)}.${quote(name)}`;
}

/** What there is of a table already. */
export interface Present {
  hasSchema: boolean;
  /** Null when there is no such table. */
  columns: readonly string[] | null;
}

/** Asked with `presentValues`. A user that may write but not create is enough where nothing is missing. */
export const PRESENT_SQL = `
  SELECT to_regnamespace($1) IS NOT NULL AS "hasSchema",
    (SELECT array_agg(attname::text) FROM pg_attribute
      WHERE attrelid = to_regclass($2) AND attnum > 0 AND NOT attisdropped) AS "columns"`;

export function presentValues(table: Table): [string, string] {
  return [quote(table.schema), qualified(table)];
}

/** Own columns that a table of that name lacks: it is somebody else's. */
export function missingOwn({ columns }: Present): string[] {
  return columns === null ? [] : OWN_COLUMNS.filter((name) => !columns.includes(name));
}

/** One text, which PostgreSQL runs as one transaction; empty when nothing is missing. */
export function creationSql(table: Table, present: Present): string {
  const added = table.columns.filter(({ name }) => present.columns?.includes(name) !== true);
  const definitions = [...OWN.map(([name, type]) => `${quote(name)} ${type}`), 'PRIMARY KEY ("workspace", "id")'].join(
    ', ',
  );
  const statements = [
    ...(present.hasSchema ? [] : [`CREATE SCHEMA IF NOT EXISTS ${quote(table.schema)}`]),
    ...(present.columns === null ? [`CREATE TABLE IF NOT EXISTS ${qualified(table)} (${definitions})`] : []),
    ...added.map(({ name, type }) => `ALTER TABLE ${qualified(table)} ADD COLUMN IF NOT EXISTS ${quote(name)} ${type}`),
  ];
  if (statements.length === 0) return '';
  // IF NOT EXISTS alone fails when two processes start at the same moment: one after the other.
  return [`SELECT pg_advisory_xact_lock(${CREATION_LOCK})`, ...statements].join(';\n');
}

/** Any number will do, as long as all processes take the same. */
const CREATION_LOCK = 4_611_686_018_427;

/**
 * A smaller number seen this much later is a new count: the feed lost its memory (another Redis) and began again at 1.
 * The clocks of two machines may differ by seconds, never by that; a row that stands still would be the greater harm.
 */
const NEW_COUNT_AFTER = '1 minute';

/** Values in the order of `workspace, id, data, sequence, updated_at, observed_at, deleted`, then the columns. */
export function upsertSql(table: Table, image: 'replaced' | 'kept'): string {
  const all = [...OWN.map(([name, type]) => ({ name, type: type.split(' ')[0] ?? '' })), ...table.columns];
  const names = all.map(({ name }) => quote(name));
  const values = all.map(({ type }, index) => `$${index + 1}::${type}`);
  const imageNames = new Set(['data', ...table.columns.map(({ name }) => name)]);
  const updated = all
    .map(({ name }) => name)
    .filter((name) => name !== 'workspace' && name !== 'id' && (image === 'replaced' || !imageNames.has(name)));
  const assignments = updated.map((name) => `${quote(name)} = excluded.${quote(name)}`);
  return `INSERT INTO ${qualified(table)} AS present (${names.join(', ')}) VALUES (${values.join(', ')})
    ON CONFLICT ("workspace", "id") DO UPDATE SET ${assignments.join(', ')}
    WHERE excluded."sequence" > present."sequence"
      OR excluded."observed_at" > present."observed_at" + interval '${NEW_COUNT_AFTER}'`;
}
