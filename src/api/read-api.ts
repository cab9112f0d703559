import { ChangefeedError } from '../errors.js';
import type { RequestKind } from './budget.js';
import type { UncheckedRecord } from '../crm/record.js';
import type { PageLayout } from './page-layout.js';
import type { Validators } from './validators.js';
import type { ListName } from '../crm/lists/lists.js';

/** One checked answer of a list endpoint (section 4 of the interface): it has the list, and every element is an object. */
export interface Page {
  readonly list: ListName;
  readonly records: readonly UncheckedRecord[];
  /** The cursor of the next page; null at the end of the list (null, missing or empty cursor, or no records). */
  readonly nextCursor: string | null;
  /** Size of the body in bytes. */
  readonly bytes: number;
  /** Digest of the body's bytes. Absent: the page cannot be recognised. */
  readonly digest?: string | undefined;
  /** Where its records are in the bytes; null when its records cannot be recognised one by one. Computed when it is asked for. */
  readonly layout?: (() => PageLayout | null) | undefined;
  /** The version of the page in the server's words; null when it names none. */
  readonly validators?: Validators | null | undefined;
}

/** The answer has the digest that the caller knows, or the server says so (304). It was not parsed. */
export interface UnchangedPage {
  readonly unchanged: true;
  readonly list: ListName;
  readonly bytes: number;
  /** The version of the page in the server's words; null when it names none. */
  readonly validators?: Validators | null | undefined;
}

/** Most of the page's records are as they were. Only the others were parsed. */
export interface PartlyKnownPage {
  readonly list: ListName;
  /** In the order of the page: a record, or the number of a record in the layout that the caller knows. */
  readonly entries: readonly (UncheckedRecord | number)[];
  readonly nextCursor: string | null;
  readonly bytes: number;
  readonly digest: string;
  readonly layout: PageLayout;
  /** The version of the page in the server's words; null when it names none. */
  readonly validators?: Validators | null | undefined;
  /** Parses the page as a whole. */
  readonly whole: () => Page;
}

export type FetchedPage = Page | UnchangedPage | PartlyKnownPage;

export function isUnchanged(page: FetchedPage): page is UnchangedPage {
  return 'unchanged' in page;
}

export function isPartlyKnown(page: FetchedPage): page is PartlyKnownPage {
  return 'entries' in page;
}

/** The page of a request without a known digest. */
export function wholePage(page: FetchedPage): Page {
  if (isPartlyKnown(page)) return page.whole();
  if (!isUnchanged(page)) return page;
  throw new ChangefeedError('CF_INTERNAL', {
    list: page.list,
    message: 'A page that was not known came back as unchanged.',
  });
}

/** What the caller knows of a page. */
export interface KnownPage {
  readonly knownDigest?: string | undefined;
  readonly knownLayout?: PageLayout | undefined;
}

export interface FetchOptions {
  /** The previous page's `nextCursor`; null for the first page. */
  cursor: string | null;
  /** Number of the page within the sweep, from 1; used in messages. */
  page: number;
  /** What the request is for: decides when the budget grants it. @defaultValue 'walk' */
  kind?: RequestKind;
  /** See `BudgetRequest.weight`. @defaultValue 1 */
  weight?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** The read API of one workspace, without any detail of HTTP. */
export interface ReadApi {
  /**
   * One page of a list, after as many attempts as the policy allows.
   * @throws ChangefeedError CF_UNAUTHORISED, CF_FORBIDDEN, CF_RATE_LIMITED, CF_UNAVAILABLE, CF_REQUEST_REFUSED,
   *   CF_PAGE_MALFORMED
   */
  fetchPage(list: ListName, options: FetchOptions): Promise<Page>;
  /** The same for a page that was read before: what is as it was then is not parsed. */
  fetchIfChanged(list: ListName, options: FetchOptions & KnownPage): Promise<FetchedPage>;
  close(): Promise<void>;
}
