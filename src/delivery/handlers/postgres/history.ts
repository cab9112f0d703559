/**
 * The versions of one list's records: tables, view and function. Pure. Rows are only added. Until when a version was valid is what the
 * next ones say, so the view computes it: it is right in whatever order events arrive, and no row is written twice.
 */
import { LONGEST_BYTES, qualified, quote, type Table } from './table.js';

const VERSION = [
  ['workspace', 'text NOT NULL'],
  ['id', 'text NOT NULL'],
  ['sequence', 'bigint NOT NULL'],
  ['valid_from', 'timestamptz NOT NULL'],
  ['event_id', 'text'],
  ['actor', 'jsonb'],
  ['changes', 'jsonb'],
  ['data', 'jsonb'],
  ['deleted', 'boolean NOT NULL'],
] as const;
const VERSION_COLUMNS = VERSION.map(([name]) => name);
const NAMES = VERSION_COLUMNS.map(quote).join(', ');

// Not `_history`: further lists have names such as `people_history`.
const SUFFIXES = ['_versions', '_timeline', '_as_of'];
/** The name of a table may have as many bytes, so that those of its history fit as well. */
export const LONGEST_WITH_HISTORY = LONGEST_BYTES - Math.max(...SUFFIXES.map(({ length }) => length));

/** The names that the history of a table takes. */
export function historyNames(table: string): string[] {
  return SUFFIXES.map((suffix) => table + suffix);
}

export function versionsOf({ schema, name }: Table): Table {
  return { schema, name: `${name}_versions`, columns: [] };
}

/** `SELECT * FROM crm.people_as_of('2026-09-30 18:00+09')` */
function asOfSignature({ schema, name }: Table): string {
  return `${qualified({ schema, name: `${name}_as_of` })}(timestamptz)`;
}

function viewOf({ schema, name }: Table): string {
  return qualified({ schema, name: `${name}_timeline` });
}

export interface PresentHistory {
  /** Null: there is no such table. */
  versions: readonly string[] | null;
  isWhole: boolean;
}

const PRESENT_SQL = `
  SELECT to_regclass($2) IS NOT NULL AND to_regprocedure($3) IS NOT NULL AS "isWhole",
    (SELECT array_agg(attname::text) FROM pg_attribute
      WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped) AS "versions"`;

export function presentHistoryQuery(table: Table): [sql: string, values: unknown[]] {
  return [PRESENT_SQL, [qualified(versionsOf(table)), viewOf(table), asOfSignature(table)]];
}

/** Columns of ours that an existing table of versions lacks. */
export function missingVersionColumns({ versions }: PresentHistory): string[] {
  return versions === null ? [] : VERSION_COLUMNS.filter((name) => !versions.includes(name));
}

/** None if nothing is missing. A mirror that existed before begins its history with the rows that it has. */
export function historyCreationSql(table: Table, present: PresentHistory): string[] {
  if (present.versions !== null && present.isWhole) return [];
  const versions = qualified(versionsOf(table));
  const definitions = [...VERSION.map(([name, type]) => `${quote(name)} ${type}`), `PRIMARY KEY ${KEY}`].join(', ');
  const asOf = `SELECT ${NAMES} FROM (SELECT DISTINCT ON ("workspace", "id") ${NAMES} FROM ${versions}
      WHERE "valid_from" <= $1 ORDER BY "workspace", "id", "sequence" DESC) AS newest WHERE NOT "deleted"`;
  return [
    `CREATE TABLE IF NOT EXISTS ${versions} (${definitions})`,
    `INSERT INTO ${versions} (${NAMES})
      SELECT "workspace", "id", "sequence", "observed_at", NULL, NULL, NULL, CASE WHEN NOT "deleted" THEN "data" END, "deleted"
      FROM ${qualified(table)} ON CONFLICT DO NOTHING`,
    // Clocks may go back: what a later version says is valid from its own moment on, whatever an earlier one says.
    `CREATE OR REPLACE VIEW ${viewOf(table)} AS SELECT "workspace", "id", "valid_from",
      min("valid_from") OVER (PARTITION BY "workspace", "id" ORDER BY "sequence"
        ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS "valid_to",
      "sequence", "event_id", "actor", "changes", "data", "deleted" FROM ${versions}`,
    `CREATE OR REPLACE FUNCTION ${asOfSignature(table)} RETURNS SETOF ${versions} LANGUAGE sql STABLE
      AS '${asOf.replaceAll("'", "''")}'`,
  ];
}

const KEY = '("workspace", "id", "sequence")';

interface Version {
  table: Table;
  /** The position of the first of three values behind those of the row: event id, actor, changes. */
  first: number;
  /** The event says what changed: its version is kept although it equals the one before. */
  hasChanges: boolean;
}

/** Goes before the statement of the row, whose values it uses: both are written, or none. */
export function versionSql({ table, first, hasChanges }: Version): string {
  const versions = qualified(versionsOf(table));
  const data = 'CASE WHEN NOT $7::boolean THEN $3::jsonb END';
  const same = `SELECT FROM (SELECT "data", "deleted" FROM ${versions}
      WHERE "workspace" = $1::text AND "id" = $2::text AND "sequence" <= $4::bigint ORDER BY "sequence" DESC LIMIT 1) AS last
    WHERE last."deleted" = $7::boolean AND last."data" IS NOT DISTINCT FROM ${data}`;
  return `WITH version AS (INSERT INTO ${versions} (${NAMES})
    SELECT $1::text, $2::text, $4::bigint, $6::timestamptz, $${first}::text, $${first + 1}::jsonb, $${first + 2}::jsonb,
      ${data}, $7::boolean
    ${hasChanges ? '' : `WHERE NOT EXISTS (${same})`} ON CONFLICT DO NOTHING)`;
}

/** Around the statement that marks the rows of removed records. Its fourth value is the event's id. */
export function goneVersionsSql(table: Table, gone: string): string {
  return `WITH gone AS (${gone} RETURNING "workspace", "id")
    INSERT INTO ${qualified(versionsOf(table))} (${NAMES})
    SELECT "workspace", "id", $2::bigint, $3::timestamptz, $4::text, NULL, NULL, NULL, true FROM gone ON CONFLICT DO NOTHING`;
}

/** A column of the newest version of the row `present`. */
export function newestVersion(table: Table): (column: 'sequence' | 'data') => string {
  return (column) => `(SELECT ${quote(column)} FROM ${qualified(versionsOf(table))} AS version
    WHERE version."workspace" = present."workspace" AND version."id" = present."id" ORDER BY version."sequence" DESC LIMIT 1)`;
}

/** Values: workspace, id. */
export function eraseVersionsSql(table: Table): string {
  return `DELETE FROM ${qualified(versionsOf(table))} WHERE "workspace" = $1 AND "id" = $2`;
}
