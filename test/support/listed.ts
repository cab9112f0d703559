/** An in-memory read API with one list that the test changes; its cursors are positions. */
import { hash } from 'node:crypto';
import type { UncheckedRecord } from '../../src/crm/record.js';
import type { Page, ReadApi } from '../../src/feed/api/read-api.js';
import type { BuiltInList } from '../../src/crm/lists/lists.js';

export interface ListedApi extends ReadApi {
  records: UncheckedRecord[];
  pageSize: number;
  /** Called before each page is answered; may throw, wait, or answer another page in its place. */
  before: (cursor: string | null, page: number) => Page | undefined | Promise<Page | undefined>;
  readonly asked: (string | null)[];
}

export function listedApi(records: UncheckedRecord[] = [], pageSize = 2): ListedApi {
  const asked: (string | null)[] = [];
  const api: ListedApi = {
    async fetchIfChanged(list, { knownDigest, ...options }) {
      const page = await api.fetchPage(list, options);
      const digest = hash('sha256', JSON.stringify([page.records, page.nextCursor]));
      return digest === knownDigest ? { unchanged: true, list, bytes: 0 } : { ...page, digest };
    },
    records,
    pageSize,
    asked,
    before: () => undefined,
    async fetchPage(list: BuiltInList, { cursor, page }) {
      asked.push(cursor);
      const instead = await api.before(cursor, page);
      if (instead !== undefined) return instead;
      const from = Number(cursor ?? 0);
      const shown = api.records.slice(from, from + api.pageSize);
      const more = from + api.pageSize < api.records.length;
      return { list, records: shown, nextCursor: more ? String(from + api.pageSize) : null, bytes: 0 };
    },
    close: () => Promise.resolve(),
  };
  return api;
}
