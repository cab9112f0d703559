/**
 * One list's table: columns and statements. Pure. A row is a record's newest state by sequence; the writing statement
 * checks it, so it holds for concurrent writers. Times decide nothing: a clock may be wrong, and every loss in Redis
 * begins an epoch of higher sequences. A snapshot repeats a sequence, and fills columns that are new. Rows of removed
 * records stay: a late `updated` would bring them back.
 */

/** In bytes. PostgreSQL truncates longer names, and two names may become one. */
export const LONGEST_BYTES = 63;

export const A_NAME = `a name of 1 to ${LONGEST_BYTES} bytes (a Korean letter takes 3)`;

export function isIdentifier(name: string): boolean {
  return name !== '' && !name.includes('\0') && Buffer.byteLength(name, 'utf8') <= LONGEST_BYTES;
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

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
/** Types that a further column may have. */
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

export function qualified({ schema, name }: Pick<Table, 'schema' | 'name'>): string {
  return `${quote(schema)}.${quote(name)}`;
}

export interface Present {
  hasSchema: boolean;
  columns: readonly string[] | null;
  misfits: readonly Misfit[];
}

/** A column that takes no value of the type that is written. */
export interface Misfit {
  column: string;
  /** Its type in the table. */
  has: string;
  written: ColumnType;
}

/** If nothing is missing, a database user without the right to create tables is enough. */
const PRESENT_SQL = `
  SELECT to_regnamespace($1) IS NOT NULL AS "hasSchema",
    (SELECT array_agg(attname::text) FROM pg_attribute
      WHERE attrelid = to_regclass($2) AND attnum > 0 AND NOT attisdropped) AS "columns",
    (SELECT coalesce(json_agg(json_build_object(
        'column', attname, 'has', format_type(atttypid, atttypmod), 'written', written)), '[]')
      FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
        JOIN unnest($3::text[], $4::text[]) AS ours (name, written) ON attname = name
      WHERE attrelid = to_regclass($2) AND attnum > 0 AND NOT attisdropped AND atttypid <> written::regtype
        -- A text takes any value. What a person made of a domain is theirs.
        AND typcategory <> 'S' AND typtype <> 'd'
        AND NOT EXISTS (SELECT FROM pg_cast
          WHERE castsource = written::regtype AND casttarget = atttypid AND castcontext IN ('a', 'i'))) AS "misfits"`;

export function presentQuery(table: Table): [sql: string, values: unknown[]] {
  const names = table.columns.map(({ name }) => name);
  return [PRESENT_SQL, [quote(table.schema), qualified(table), names, table.columns.map(({ type }) => type)]];
}

/** The statement that repairs it empties the column: the next change of a record, or a snapshot, fills it. */
export function misfitTexts(table: Table, { column, has, written }: Misfit): { reason: string; remedy: string } {
  const statement = `ALTER TABLE ${qualified(table)} ALTER COLUMN ${quote(column)} TYPE ${written} USING NULL`;
  return {
    reason: `the column ${quote(column)} of ${qualified(table)} is ${has}, and the subscription writes ${written}`,
    remedy: `change the column (${statement}), or its type in the subscription`,
  };
}

/** Columns of ours that an existing table lacks: such a table was not created by Changefeed. */
export function missingOwn({ columns }: Present): string[] {
  return columns === null ? [] : OWN_COLUMNS.filter((name) => !columns.includes(name));
}

/** One text, which PostgreSQL runs as one transaction; empty if nothing is missing. @param more statements for what belongs to the table */
export function creationSql(table: Table, present: Present, more: readonly string[] = []): string {
  const added = table.columns.filter(({ name }) => present.columns?.includes(name) !== true);
  const own = OWN.map(([name, type]) => `${quote(name)} ${type}`);
  const definitions = [...own, 'PRIMARY KEY ("workspace", "id")'].join(', ');
  const statements = [
    ...(present.hasSchema ? [] : [`CREATE SCHEMA IF NOT EXISTS ${quote(table.schema)}`]),
    ...(present.columns === null ? [`CREATE TABLE IF NOT EXISTS ${qualified(table)} (${definitions})`] : []),
    ...added.map(({ name, type }) => `ALTER TABLE ${qualified(table)} ADD COLUMN IF NOT EXISTS ${quote(name)} ${type}`),
    ...more,
  ];
  if (statements.length === 0) return '';
  // IF NOT EXISTS alone fails when two processes start at the same moment: the lock makes one wait.
  return [`SELECT pg_advisory_xact_lock(${CREATION_LOCK})`, ...statements].join(';\n');
}

/** An arbitrary number that all processes share. */
const CREATION_LOCK = 4_611_686_018_427;

/** Values in the order of `workspace, id, data, sequence, updated_at, observed_at, deleted`, then the columns. */
export function upsertSql(table: Table, image: 'replaced' | 'kept'): string {
  const all = [...OWN.map(([name, type]) => ({ name, type: type.split(' ')[0] ?? '' })), ...table.columns];
  const names = all.map(({ name }) => quote(name));
  const values = all.map(({ type }, index) => `$${index + 1}::${type}`);
  const imageNames = new Set(['data', ...table.columns.map(({ name }) => name)]);
  const assignments = all
    .filter(({ name }) => name !== 'workspace' && name !== 'id' && (image === 'replaced' || !imageNames.has(name)))
    .map(({ name }) => `${quote(name)} = excluded.${quote(name)}`);
  return `INSERT INTO ${qualified(table)} AS present (${names.join(', ')}) VALUES (${values.join(', ')})
    ON CONFLICT ("workspace", "id") DO UPDATE SET ${assignments.join(', ')}
    WHERE excluded."sequence" >= present."sequence"`;
}

/** Values: workspace, id. */
export function eraseSql(table: Table): string {
  return `DELETE FROM ${qualified(table)} WHERE "workspace" = $1 AND "id" = $2 RETURNING "id"`;
}

/**
 * Values: workspace, the id before the first, how many. The next rows in the order of their key. With the workspace as a condition of the inner query,
 * PostgreSQL may sort all rows that follow for every step: of a table that it has not analysed, it expects few of them.
 */
export function rowsSql(table: Table, newest?: (column: 'sequence') => string): string {
  // A row whose newest version is missing is behind.
  const sequence = newest === undefined ? '"sequence"' : `LEAST("sequence", COALESCE(${newest('sequence')}, -1))`;
  return `SELECT "id", ${sequence}::text AS "sequence", "deleted" FROM
    (SELECT "workspace", "id", "sequence", "deleted" FROM ${qualified(table)}
      WHERE ("workspace", "id") > ($1, $2) ORDER BY "workspace", "id" LIMIT $3) AS present
    WHERE "workspace" = $1 ORDER BY "id"`;
}

/** Values: workspace, ids. */
export function contentsSql(table: Table, newest?: (column: 'data') => string): string {
  const isSame = newest === undefined ? '' : ` AND "data" = ${newest('data')}`;
  return `SELECT "id", "data" FROM ${qualified(table)} AS present
    WHERE "workspace" = $1 AND "id" = ANY($2) AND "data" IS NOT NULL${isSame}`;
}

/** Values: workspace, sequence, time. Rows below the sequence are marked as those of removed records are. */
export function goneSql(table: Table, { keepDeleted }: { keepDeleted: boolean }): string {
  const emptied = keepDeleted ? [] : ['data', ...table.columns.map(({ name }) => name)];
  const assignments = [
    ...[
      '"deleted" = true',
      '"sequence" = $2::bigint',
      '"updated_at" = $3::timestamptz',
      '"observed_at" = $3::timestamptz',
    ],
    ...emptied.map((name) => `${quote(name)} = NULL`),
  ];
  return `UPDATE ${qualified(table)} SET ${assignments.join(', ')}
    WHERE "workspace" = $1 AND "sequence" < $2::bigint AND NOT "deleted"`;
}
