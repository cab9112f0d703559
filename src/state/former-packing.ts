/**
 * Reads records of format version 6, in which the names of a record's fields were kept apart: in tables of its list, by digest. A record keeps
 * that form until it changes. Nothing writes it any more.
 */
import { z } from 'zod';
import type { ListName } from '../crm/lists/lists.js';
import type { WorkspaceRedis } from './keys.js';
import { readJson, unreadable } from './stored.js';

export const FORMER_VERSION = '6';
/** The digest of the table that a record was packed with, before its content. */
export const TABLE_BYTES = 4;
const NO_TABLE = '4f53cda1';

export const FORMER_DICTIONARY: Buffer = Buffer.from(
  '["","earlier":["doubt":{"content":"","sweep":"","sightings":1}"gone":{"at":"","modifiedAt":' +
    '"decisions":[{"at":"2026-01-01T00:00:00.000Z","sweep":"","what":"edited","refreshed","stale","fields":[""],"event":"evt_1"}]}]' +
    '"https://www.example.com/.com"\n""@gmail.com"\n"+82010-"-4000-8000-","type":"editField"user","api"workflow"\n' +
    'true\n[]\n[]\nfalse\nnull\nnull\nnull\n0\n0\n1\n[{"id":"","name":""}]\n{"id":"","name":""}\n' +
    '"1 ~ = list of {id, name}"\n"1 - = empty list"\n"1 ~ = {id, name}"\n"1 ~ = timestamp to the minute"\n"1 ~ = boolean"\n"1 ~ = number"\n' +
    '"1 ~ = timestamp"\n"1 - = null"\n"1 ~ = string"\n' +
    '"2026-0:00.000Z"\n"2026-0:00.000Z"\n"[0,{"modifiedAt":"2026-0',
  'utf8',
);

export interface FormerNames {
  /**
   * The text of a record, put together of the texts between its field names.
   * @throws ChangefeedError CF_STATE_UNREADABLE when the table is gone
   */
  textOf(table: Buffer, columns: string): string;
}

export async function readFormerNames(
  { redis, keys, workspace }: WorkspaceRedis,
  list: ListName,
): Promise<FormerNames> {
  const at = { what: 'the field names of stored records', key: keys.names(workspace, list) } as const;
  const stored = Object.entries(await redis.hgetall(at.key));
  const tables = new Map(
    stored.map(([field, json]) => [field, readJson(z.array(z.string()), json, { ...at, field })] as const),
  );
  return {
    textOf(table, columns) {
      const field = table.toString('hex');
      if (field === NO_TABLE) return columns;
      const names = tables.get(field);
      if (names === undefined) throw unreadable({ ...at, field }, 'nothing');
      const [first = '', ...rest] = columns.split('\n');
      const fields = rest.map((text, nth) => (text === '' ? '' : `,${JSON.stringify(names[nth] ?? '')}:${text}`));
      return `{${`${first}${fields.join('')}`.slice(1)}}`;
    },
  };
}
