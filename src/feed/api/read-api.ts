import { ChangefeedError } from '../../kit/errors.js';
import type { RequestKind } from './budget.js';
import type { Answer } from './failure.js';
import type { UncheckedRecord } from '../../crm/record.js';
import type { PageRow } from './rows.js';
import type { UnreadableRecord } from './unreadable.js';
import type { ListName } from '../../crm/lists/lists.js';

/** One checked answer of a list endpoint (section 4 of the interface): it has the list, and every element is an object. */
export interface Page {
  readonly list: ListName;
  /** The records as the API gave them. */
  readonly records: readonly UncheckedRecord[];
  /** The same records as they were received, each parsed when it is asked for. @defaultValue made of `records` */
  readonly rows?: readonly PageRow[];
  /** Further records of the page, which cannot be read. @defaultValue none */
  readonly unreadable?: readonly UnreadableRecord[] | undefined;
  /** The cursor of the next page; null at the end of the list (null, missing or empty cursor, or no records). */
  readonly nextCursor: string | null;
  /** There is a `nextCursor`, without a cursor. Otherwise the page may be the last one because the cursor has another name. */
  readonly saysEnd?: true;
  /** Size of the body in bytes. */
  readonly bytes: number;
  /** Digest of the body's bytes. Absent: the page cannot be recognised. */
  readonly digest?: string | undefined;
}

/** The answer has the digest that the caller knows. It was not parsed. */
export interface UnchangedPage {
  readonly unchanged: true;
  readonly list: ListName;
  readonly bytes: number;
  /** As the caller knows them. @defaultValue not known */
  readonly records?: number | undefined;
}

export type FetchedPage = Page | UnchangedPage;

export function isUnchanged(page: FetchedPage): page is UnchangedPage {
  return 'unchanged' in page;
}

/** The page of a request without a known digest. */
export function wholePage(page: FetchedPage): Page {
  if (!isUnchanged(page)) return page;
  throw new ChangefeedError('CF_INTERNAL', {
    list: page.list,
    message: 'A page that was not known came back as unchanged.',
  });
}

/** A page that the caller already has, by its digest. */
export interface KnownPage {
  readonly knownDigest?: string | undefined;
  /** How many rows it has. */
  readonly knownRecords?: number | undefined;
}

export interface FetchOptions {
  /** The previous page's `nextCursor`; null for the first page. */
  cursor: string | null;
  /** Number of the page within the sweep, from 1; used in messages. */
  page: number;
  /** The purpose of the request: decides when the budget grants it. @defaultValue 'walk' */
  kind?: RequestKind;
  /** See `BudgetRequest.value`. @defaultValue 0 */
  value?: ((nowMs: number) => number) | undefined;
  signal?: AbortSignal | undefined;
  /** Called before each try, when the budget has granted it. @defaultValue none */
  onGrant?: (() => void) | undefined;
  /** Receives each answer as it came, before its page is read. @defaultValue none */
  onAnswer?: ((answer: Answer) => void) | undefined;
}

/** The read API of one workspace, without any detail of HTTP. */
export interface ReadApi {
  /**
   * One page of a list, after as many attempts as the policy allows.
   * @throws ChangefeedError CF_UNAUTHORISED, CF_FORBIDDEN, CF_RATE_LIMITED, CF_UNAVAILABLE, CF_REQUEST_REFUSED,
   *   CF_PAGE_MALFORMED
   */
  fetchPage(list: ListName, options: FetchOptions): Promise<Page>;
  /** The same for a page that was read before: with the same digest, it is not parsed. */
  fetchIfChanged(list: ListName, options: FetchOptions & KnownPage): Promise<FetchedPage>;
  /** Ends its connections. */
  close(): Promise<void>;
}
