/**
 * Which questions a probe asks, and in which order, until its requests are used up: of each list two pages and a bad cursor; then one more page of each list in turns; at last, each second page once more. Reads only.
 */
import type { ListDescriptor } from '../crm/lists/descriptor.js';
import type { Ask } from './raw-answer.js';
import { sampleOf, type Question, type Sample } from './sample.js';

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

export async function askLists(options: AskOptions): Promise<ProbeAsked[]> {
  const walks = options.lists.map((list) => new ListWalk(list, options.ask));
  let left = options.requests;
  const each = async (step: (walk: ListWalk) => Promise<boolean>, most: number): Promise<boolean> => {
    let asked = false;
    for (const walk of walks) {
      if (left <= options.requests - most) break;
      if (!(await step(walk))) continue;
      asked = true;
      left -= 1;
    }
    return asked;
  };
  await each((walk) => walk.nextPage(), options.requests);
  await each((walk) => walk.nextPage(), options.requests);
  await each((walk) => walk.badCursor(), options.requests);
  // The last question to each list is kept for the end.
  const kept = walks.filter((walk) => walk.hasSecondPage).length;
  while (await each((walk) => walk.nextPage(), options.requests - kept)) continue;
  await each((walk) => walk.again(), options.requests);
  return walks.map(({ list, samples }) => ({ list, samples }));
}

/** Each question returns false when there is nothing to ask. */
class ListWalk {
  readonly samples: Sample[] = [];
  readonly list: ListDescriptor;
  readonly #askApi: Ask;
  /** Undefined when the walk has ended. */
  #cursor: string | null | undefined = null;

  constructor(list: ListDescriptor, ask: Ask) {
    this.list = list;
    this.#askApi = ask;
  }

  /** The cursor of the second page was given out and used. */
  get hasSecondPage(): boolean {
    return this.#second !== undefined;
  }

  async nextPage(): Promise<boolean> {
    if (this.#cursor === undefined) return false;
    const { page } = await this.#ask('page', this.#cursor);
    const ended =
      page === null || page.records.length === 0 || page.nextCursor === null || this.#wasUsed(page.nextCursor);
    this.#cursor = ended ? undefined : page.nextCursor;
    return true;
  }

  async badCursor(): Promise<boolean> {
    if (this.samples[0]?.page == null) return false;
    await this.#ask('bad cursor', NO_CURSOR);
    return true;
  }

  async again(): Promise<boolean> {
    const cursor = this.#second?.cursor ?? null;
    if (cursor === null) return false;
    await this.#ask('again', cursor);
    return true;
  }

  get #second(): Sample | undefined {
    return this.samples.find(({ question, cursor }) => question === 'page' && cursor !== null);
  }

  #wasUsed(cursor: string): boolean {
    return this.samples.some((sample) => sample.cursor === cursor);
  }

  async #ask(question: Question, cursor: string | null): Promise<Sample> {
    const raw = await this.#askApi(this.list, cursor);
    const sample = sampleOf(this.list, { question, cursor, ...raw });
    this.samples.push(sample);
    return sample;
  }
}
