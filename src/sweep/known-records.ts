/**
 * The records of a changed page that are as the last complete sweep read them. They are recognised by their bytes, and their keys
 * follow from the members of the page. This is sound for the reason for which a page is skipped (unchanged-page.ts): a page is kept only
 * while every record on it is stored as it shows it.
 *
 * Whatever is unusual leads to a page that is parsed as a whole: other members than the layout, rows without an id, a record
 * that stands twice on the page.
 */
import { memberAt, recordsIn, withMembers, type PageLayout } from '../api/page-layout.js';
import { isPartlyKnown, type Page, type PartlyKnownPage, type UnchangedPage } from '../api/read-api.js';
import type { UncheckedRecord } from '../crm/record.js';
import { isKnownByContent } from '../detect/identity.js';
import type { SweepStore } from './store.js';

/** Every record of the page was on it before: none came from another page. */
export function hasOnlyMembers({ records, recognised }: KeyedPage): boolean {
  if (recognised === undefined) return false;
  const members = new Set<unknown>(recognised.members);
  return records.every(({ id }) => members.has(id));
}

export interface RecognisedRecords {
  keys: readonly string[];
  /** The members of the page in the last complete sweep. */
  members: readonly string[];
  /** All records of the page. They are parsed when it is called. */
  whole: () => readonly UncheckedRecord[];
}

/** A page, and those of its records that were recognised. */
export interface KeyedPage {
  records: readonly UncheckedRecord[];
  recognised: RecognisedRecords | undefined;
  nextCursor: string | null;
  digest: string | undefined;
  /** The page as a whole; null when some of its records were recognised. */
  page: Page | null;
  /** Its layout, if the page has these keys: those recognised first, then those of `records`. */
  layout: (keys: readonly string[]) => PageLayout | null;
}

export function keyedPage(page: Page): KeyedPage {
  const { records, nextCursor, digest } = page;
  const layout = (keys: readonly string[]): PageLayout | null => orderedLayout(page.layout?.() ?? null, keys);
  return { records, recognised: undefined, nextCursor, digest, page, layout };
}

/** @param layout of the page as the last complete sweep read it; absent when nothing may be recognised */
export async function withKnownKeys(
  store: Pick<SweepStore, 'members'>,
  fetched: Exclude<Page | PartlyKnownPage, UnchangedPage>,
  { page, layout }: { page: number; layout: PageLayout | undefined },
): Promise<KeyedPage> {
  if (!isPartlyKnown(fetched)) return keyedPage(fetched);
  const members = layout === undefined ? null : await store.members(fetched.list, page);
  const keys = layout === undefined || members === null ? null : keysOf(fetched, { members, layout });
  if (keys === null || members === null) return keyedPage(fetched.whole());
  const records = fetched.entries.filter((entry) => typeof entry !== 'number');
  const known = keys.filter((_key, index) => typeof fetched.entries[index] === 'number');
  const recognised = { keys: known, members, whole: () => fetched.whole().records };
  const { nextCursor, digest } = fetched;
  return { records, recognised, nextCursor, digest, page: null, layout: () => orderedLayout(fetched.layout, keys) };
}

/** The keys of all records in the order of the page; null when they are not certain. */
function keysOf(
  { entries }: PartlyKnownPage,
  { members, layout }: { members: readonly string[]; layout: PageLayout },
): string[] | null {
  if (members.length !== recordsIn(layout)) return null;
  const keys = entries.map((entry) =>
    typeof entry === 'number' ? members[memberAt(layout, entry) ?? -1] : entry['id'],
  );
  const isCertain = (key: unknown): key is string => typeof key === 'string' && key !== '' && !isKnownByContent(key);
  return keys.every(isCertain) && new Set(keys).size === keys.length ? keys : null;
}

/** With the place of each record among the sorted keys, as the members of the page are stored. */
function orderedLayout(layout: PageLayout | null, keys: readonly string[]): PageLayout | null {
  if (layout === null || recordsIn(layout) !== keys.length) return null;
  const places = new Map([...keys].sort().map((key, place) => [key, place]));
  return withMembers(
    layout,
    keys.map((key) => places.get(key) ?? 0),
  );
}
