/** How a sweep recognises the pages of the last complete one: fields `e <page>` of a list's members. */
import { z } from 'zod';
import type { ListName } from '../crm/lists/lists.js';
import type { StoredPage } from '../sweep/store.js';
import type { WorkspaceRedis } from './keys.js';
import { readJson } from './stored.js';

/** An array, because the names of the properties would take more room than their values. */
const stored = z.tuple([
  z.string().nullable(),
  z.string().nullable(),
  z.string(),
  z.number(),
  z.string().nullable(),
]) satisfies z.ZodType<
  [cursor: string | null, nextCursor: string | null, digest: string, records: number, firstPage: string | null]
>;

export async function readPages(
  { redis, keys, workspace }: WorkspaceRedis,
  list: ListName,
  { from, count }: { from: number; count: number },
): Promise<(StoredPage | null)[]> {
  const key = keys.members(workspace, list);
  const fields = Array.from({ length: count }, (_, index) => pageField(from + index));
  const found = await redis.hmgetBuffer(key, ...fields);
  return found.map((bytes, index) => {
    if (bytes === null) return null;
    const field = fields[index] ?? '';
    const cut = bytes.indexOf(BREAK);
    const json = bytes.toString('utf8', 0, cut === -1 ? bytes.length : cut);
    const remedy = `HDEL ${key} "${field}" removes it; the page is then compared record by record.`;
    const [cursor, nextCursor, digest, records, firstPage] = readJson(stored, json, {
      key,
      field,
      what: 'a page',
      remedy,
    });
    const page = { cursor, nextCursor, digest, records, firstPage };
    return cut === -1 ? page : { ...page, layout: bytes.subarray(cut + 1) };
  });
}

/** The layout follows the JSON, which contains no line break. */
export function packPage({ cursor, nextCursor, digest, records, firstPage, layout }: StoredPage): string | Buffer {
  const json = JSON.stringify([cursor, nextCursor, digest, records, firstPage]);
  return layout === undefined ? json : Buffer.concat([Buffer.from(`${json}${BREAK}`, 'utf8'), layout]);
}

const BREAK = '\n';

export function pageField(page: number): string {
  return `e ${page}`;
}
