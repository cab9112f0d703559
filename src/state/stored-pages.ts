/** How a sweep recognises the pages of the last complete one: the hash `pages`. */
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
  const key = keys.pages(workspace, list);
  const fields = Array.from({ length: count }, (_, index) => String(from + index));
  const found = await redis.hmget(key, ...fields);
  return found.map((json, index) => {
    if (json === null) return null;
    const field = fields[index] ?? '';
    const remedy = `HDEL ${key} "${field}" removes it; the page is then compared record by record.`;
    const context = { key, field, what: 'a page', remedy };
    const [cursor, nextCursor, digest, records, firstPage] = readJson(stored, json, context);
    return { cursor, nextCursor, digest, records, firstPage };
  });
}

export function packPage({ cursor, nextCursor, digest, records, firstPage }: StoredPage): string {
  return JSON.stringify([cursor, nextCursor, digest, records, firstPage]);
}
