/** A read API whose lists a test holds in its hand: pages of records, cursors that are positions. Real enough to walk. */
import type { UncheckedRecord } from '../../src/crm/record.js';
import type { Page, ReadApi } from '../../src/api/read-api.js';
import type { BuiltInList } from '../../src/crm/lists/lists.js';

export interface ListedApi extends ReadApi {
  /** What the list holds now. */
  records: UncheckedRecord[];
  /** Called before each page is answered; may throw, wait, or answer another page in its place. */
  before: (cursor: string | null, page: number) => Page | undefined | Promise<Page | undefined>;
  /** Cursors asked for, in order. */
  readonly asked: (string | null)[];
}

/** Two records to a page, unless a test says otherwise. */
export function listedApi(records: UncheckedRecord[] = [], pageSize = 2): ListedApi {
  const asked: (string | null)[] = [];
  const api: ListedApi = {
    records,
    asked,
    before: () => undefined,
    async fetchPage(list: BuiltInList, { cursor, page }) {
      asked.push(cursor);
      const instead = await api.before(cursor, page);
      if (instead !== undefined) return instead;
      const from = Number(cursor ?? 0);
      const shown = api.records.slice(from, from + pageSize);
      const more = from + pageSize < api.records.length;
      return { list, records: shown, nextCursor: more ? String(from + pageSize) : null, bytes: 0 };
    },
    close: () => Promise.resolve(),
  };
  return api;
}
