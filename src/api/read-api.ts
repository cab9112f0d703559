import type { UncheckedRecord } from '../crm/record.js';
import type { ListName } from '../crm/lists/lists.js';

/** One checked answer of a list endpoint (section 4 of the interface): it has the list, and every element is an object. */
export interface Page {
  readonly list: ListName;
  readonly records: readonly UncheckedRecord[];
  /** The cursor of the next page; null at the end of the list (null, missing or empty cursor, or no records). */
  readonly nextCursor: string | null;
  /** Size of the body in bytes. */
  readonly bytes: number;
}

export interface FetchOptions {
  /** The previous page's `nextCursor`; null for the first page. */
  cursor: string | null;
  /** Number of the page within the sweep, from 1; used in messages. */
  page: number;
  signal?: AbortSignal;
}

/** The read API of one workspace, without any detail of HTTP. */
export interface ReadApi {
  /**
   * One page of a list, after as many attempts as the policy allows.
   * @throws ChangefeedError CF_UNAUTHORISED, CF_FORBIDDEN, CF_RATE_LIMITED, CF_UNAVAILABLE, CF_REQUEST_REFUSED,
   *   CF_PAGE_MALFORMED
   */
  fetchPage(list: ListName, options: FetchOptions): Promise<Page>;
  close(): Promise<void>;
}
