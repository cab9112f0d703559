/** How a list is paged, from the samples of a probe. Pure. */
import { idsOf, walkedPages, type Sample, type SamplePage } from './sample.js';

/** What a cursor led to. */
export type CursorOutcome =
  | 'the same page'
  | 'the same records with other content'
  | 'other records'
  | 'the first page'
  | 'an empty page'
  | 'no page'
  | 'refused';

export interface Paging {
  /** Records per page → number of pages; the last page of the list is not counted. */
  pageSizes: Record<string, number>;
  /** How the end of the list was marked; null when it was not reached. */
  end: 'null' | 'missing' | 'empty text' | 'empty page' | 'other' | null;
  /** Whether a cursor is the id of the last record of its page; null when no cursor was given out. */
  cursorIs: 'id of the last record' | 'opaque' | null;
  /** Characters of the first cursor. */
  cursorLength: number | null;
  /** The second page, asked once more; null when it was not. */
  again: { outcome: CursorOutcome; status: number | null; afterMs: number } | null;
  /** A cursor that the server never gave out. */
  badCursor: { outcome: CursorOutcome; status: number | null } | null;
}

export function pagingOf(samples: readonly Sample[]): Paging {
  const pages = walkedPages(samples).map(({ page }) => page);
  return {
    pageSizes: sizesOf(endOf(pages) === 'empty page' ? pages.slice(0, -2) : pages),
    end: endOf(pages),
    ...cursorOf(pages),
    again: againOf(samples),
    badCursor: badCursorOf(samples),
  };
}

function sizesOf(pages: readonly SamplePage[]): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const { records, nextCursor } of pages) {
    if (nextCursor === null || records.length === 0) continue;
    sizes[records.length] = (sizes[records.length] ?? 0) + 1;
  }
  return sizes;
}

function endOf(pages: readonly SamplePage[]): Paging['end'] {
  const last = pages.at(-1);
  if (last === undefined) return null;
  if (last.records.length === 0 && pages.length > 1) return 'empty page';
  return last.cursorForm === 'text' ? null : last.cursorForm;
}

function cursorOf(pages: readonly SamplePage[]): Pick<Paging, 'cursorIs' | 'cursorLength'> {
  const withCursor = pages.filter(({ nextCursor, records }) => nextCursor !== null && records.length > 0);
  const first = withCursor[0]?.nextCursor ?? null;
  if (first === null) return { cursorIs: null, cursorLength: null };
  const isId = withCursor.every(({ nextCursor, records }) => records.at(-1)?.['id'] === nextCursor);
  return { cursorIs: isId ? 'id of the last record' : 'opaque', cursorLength: first.length };
}

function againOf(samples: readonly Sample[]): Paging['again'] {
  const again = samples.find(({ question }) => question === 'again');
  const before = samples.find(({ question, cursor }) => question === 'page' && cursor === again?.cursor);
  if (again === undefined || before === undefined) return null;
  const outcome = outcomeOf(again, { first: samples[0], same: before });
  const afterMs = (again.answer?.askedAt ?? 0) - (before.answer?.askedAt ?? 0);
  return { outcome, status: again.answer?.status ?? null, afterMs: Math.max(0, afterMs) };
}

function badCursorOf(samples: readonly Sample[]): Paging['badCursor'] {
  const bad = samples.find(({ question }) => question === 'bad cursor');
  if (bad === undefined) return null;
  return { outcome: outcomeOf(bad, { first: samples[0], same: undefined }), status: bad.answer?.status ?? null };
}

function outcomeOf(
  { answer, page }: Sample,
  { first, same }: { first: Sample | undefined; same: Sample | undefined },
): CursorOutcome {
  if (page === null) return (answer?.status ?? 0) >= 400 ? 'refused' : 'no page';
  const ids = idsOf(page).join();
  if (same?.page != null && ids === idsOf(same.page).join()) {
    return answer?.text === same.answer?.text ? 'the same page' : 'the same records with other content';
  }
  if (page.records.length === 0) return 'an empty page';
  return first?.page != null && ids === idsOf(first.page).join() ? 'the first page' : 'other records';
}
