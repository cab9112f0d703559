/**
 * The names of fields are most of a record's text and the same in nearly all records of a list. They are kept once per list as a table of
 * names, and a record keeps the texts between them (`columnsOf`). A table is named by its digest and never changes, so that every commit can
 * write the one it uses again, and no commit depends on what another process has written.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ListName } from '../crm/lists/lists.js';
import type { WorkspaceRedis } from './keys.js';
import { readJson, type StoredAt } from './stored.js';

export interface FieldNames {
  /** Digest of the names, 8 hexadecimal digits. */
  readonly id: string;
  readonly names: readonly string[];
}

/** A list whose rows have other names from row to row soon has all of them in one table. */
const MOST_TABLES = 16;
const MOST_NAMES = 500;

export const NO_NAMES: FieldNames = fieldNames([]);

export function fieldNames(names: readonly string[]): FieldNames {
  const id = createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 8);
  return { id, names };
}

/** The largest of these tables, or a larger one that begins with the names of a record which has further ones. */
export function withFurtherNames(known: Iterable<FieldNames>, ofRecord: readonly string[]): FieldNames {
  const all = [...known];
  const largest = all.reduce((one, other) => (other.names.length > one.names.length ? other : one), NO_NAMES);
  const names = [...new Set([...ofRecord, ...largest.names])].slice(0, MOST_NAMES);
  return all.length >= MOST_TABLES || names.length <= largest.names.length ? largest : fieldNames(names);
}

/** Between columns. JSON as it is stored contains no line break. */
const BREAK = '\n';

/**
 * A column for each name, with its text up to the next name of the table; empty where the record has no such name. Names that are not in the
 * table stay in the text. Null where the text could not be put together again exactly.
 */
export function columnsOf({ names }: Pick<FieldNames, 'names'>, text: string): string | null {
  if (!text.startsWith('{') || !text.endsWith('}')) return null;
  const fields = `,${text.slice(1, -1)}`;
  const columns = [''];
  let [from, column] = [0, 0];
  for (const [nth, name] of names.entries()) {
    const separator = separatorOf(name);
    const at = fields.indexOf(separator, from);
    columns.push('');
    if (at === -1) continue;
    columns[column] = fields.slice(from, at);
    [from, column] = [at + separator.length, nth + 1];
  }
  columns[column] = fields.slice(from);
  const joined = columns.join(BREAK);
  return textOf({ names }, joined) === text ? joined : null;
}

export function textOf({ names }: Pick<FieldNames, 'names'>, columns: string): string {
  const [first = '', ...rest] = columns.split(BREAK);
  const fields = rest.map((column, nth) => (column === '' ? '' : `${separatorOf(names[nth] ?? '')}${column}`));
  return `{${`${first}${fields.join('')}`.slice(1)}}`;
}

function separatorOf(name: string): string {
  return `,${JSON.stringify(name)}:`;
}

/** All tables of a list. */
export interface FieldNameTables {
  byId: ReadonlyMap<string, FieldNames>;
  /** Where they are stored, for the error about one that is damaged or gone. */
  at: StoredAt;
}

export async function readFieldNames(
  { redis, keys, workspace }: WorkspaceRedis,
  list: ListName,
): Promise<FieldNameTables> {
  const at = {
    key: keys.names(workspace, list),
    what: `the field names of records of list "${list}"`,
    remedy: `Restore Redis from a backup, or remove all records of the list (DEL ${keys.records(workspace, list)}): the next sweep then takes a new baseline.`,
  };
  const stored = Object.entries(await redis.hgetall(at.key));
  const tables = stored.map(([id, json]): [string, FieldNames] => {
    return [id, { id, names: readJson(z.array(z.string()), json, { ...at, field: id }) }];
  });
  return { byId: new Map(tables), at };
}
