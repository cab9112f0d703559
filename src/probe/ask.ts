/**
 * Which questions a probe asks, and in which order, until its requests are used up: of each list two pages and a bad cursor; then one more
 * page of each list in turns; at last, each second page once more. Reads only.
 */
import type { ListDescriptor } from '../crm/lists/descriptor.js';
import { sampleOf, type Ask, type Question, type Sample } from './sample.js';

export interface ProbeAsked {
  readonly list: ListDescriptor;
  readonly samples: readonly Sample[];
}

export interface AskOptions {
  readonly ask: Ask;
  readonly lists: readonly ListDescriptor[];
  /** The most requests in total. */
  readonly requests: number;
}

/** No server gives out such a cursor, and it is no valid id, number or encoded text. */
const NO_CURSOR = 'changefeed-probe: no such cursor';

/** The cursor to ask for, by what was asked of the list before: null for the first page, undefined when there is nothing to ask. */
type CursorAfter = (samples: readonly Sample[]) => string | null | undefined;

export async function askLists({ ask, lists, requests }: AskOptions): Promise<ProbeAsked[]> {
  const walks = lists.map((list) => ({ list, samples: [] as Sample[] }));
  let left = requests;
  /** One question to each list. @returns whether any list was asked */
  const round = async (question: Question, cursorAfter: CursorAfter, kept = 0): Promise<boolean> => {
    const before = left;
    for (const { list, samples } of walks) {
      const cursor = cursorAfter(samples);
      if (cursor === undefined || left <= kept) continue;
      left -= 1;
      samples.push(sampleOf(list, { question, cursor, ...(await ask(list, cursor)) }));
    }
    return left < before;
  };
  await round('page', nextPage);
  await round('page', nextPage);
  await round('bad cursor', badCursor);
  // The last question to each list is kept for the end.
  const kept = walks.filter(({ samples }) => secondPage(samples) !== undefined).length;
  while (await round('page', nextPage, kept)) continue;
  await round('again', secondPage);
  return walks;
}

const nextPage: CursorAfter = (samples) => {
  const last = samples.findLast(({ question }) => question === 'page');
  if (last === undefined) return null;
  const cursor = last.page === null || last.page.records.length === 0 ? null : last.page.nextCursor;
  const isEnd = cursor === null || samples.some((sample) => sample.cursor === cursor);
  return isEnd ? undefined : cursor;
};

const badCursor: CursorAfter = ([first]) => (first?.page == null ? undefined : NO_CURSOR);

const secondPage: CursorAfter = (samples) =>
  samples.find(({ question, cursor }) => question === 'page' && cursor !== null)?.cursor ?? undefined;
