/** A minimal client of the read API for tests, independent of `src/feed/api`. */
import { LIST_NAMES, type BuiltInList } from '../../src/crm/lists/lists.js';
import { SIX_LISTS, type ServedList } from '../../src/ops/server/read-api/lists.js';

export interface Target {
  url: string;
  token: string;
}

export interface Got {
  status: number;
  headers: Headers;
  text: string;
}

export type Fields = Record<string, unknown> & { id: string };

export async function get({ url, token }: Target, path: string, headers: Record<string, string> = {}): Promise<Got> {
  const asked = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers };
  const response = await fetch(`${url}/${path}`, { headers: asked });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export interface PageRead {
  records: Fields[];
  nextCursor: string | null | undefined;
}

export async function readPage(
  target: Target,
  list: BuiltInList | ServedList,
  cursor: string | null = null,
): Promise<PageRead> {
  const { name, path, key } = typeof list === 'string' ? SIX_LISTS[list] : list;
  const query = cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`;
  const { status, text } = await get(target, `${path}${query}`);
  if (status !== 200) throw new Error(`${name}: ${status} ${text.slice(0, 200)}`);
  const { data } = JSON.parse(text) as { data: Record<string, unknown> };
  return { records: data[key] as Fields[], nextCursor: data['nextCursor'] as string | null | undefined };
}

/** All pages of a list, until the list says that it has ended. */
export async function walk(target: Target, list: BuiltInList | ServedList): Promise<Fields[]> {
  const records: Fields[] = [];
  let cursor: string | null = null;
  do {
    const page: PageRead = await readPage(target, list, cursor);
    records.push(...page.records);
    cursor = page.records.length === 0 || page.nextCursor === '' ? null : (page.nextCursor ?? null);
  } while (cursor !== null);
  return records;
}

export async function walkAll(target: Target): Promise<Record<BuiltInList, Fields[]>> {
  const lists = {} as Record<BuiltInList, Fields[]>;
  for (const list of LIST_NAMES) lists[list] = await walk(target, list);
  return lists;
}
