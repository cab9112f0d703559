/**
 * One question to the API, asked by the client of the sweep, and its answer as it came, read leniently: a probe also describes what the
 * client refuses.
 */
import type { Answer } from '../api/failure.js';
import type { ReadApi } from '../api/read-api.js';
import { jsonOf } from '../api/words.js';
import type { ListDescriptor } from '../crm/lists/descriptor.js';
import { isObject, type UncheckedRecord } from '../crm/record.js';
import { ChangefeedError } from '../errors.js';

interface RawAnswer {
  /** Null when there was no complete answer. */
  readonly answer: Answer | null;
  /** What a failed answer says, shortened and without the token. */
  readonly words: string;
}

export type Ask = (list: ListDescriptor, cursor: string | null) => Promise<RawAnswer>;

/**
 * @param api asks once: it is made with `attempts: 1`
 * @throws what the budget throws, and the signal's reason
 */
export function askOnce({ fetchPage }: Pick<ReadApi, 'fetchPage'>, signal?: AbortSignal): Ask {
  return async (list, cursor) => {
    let answer: Answer | null = null;
    const onAnswer = (one: Answer): void => void (answer = one);
    try {
      await fetchPage(list.name, { cursor, page: 1, kind: 'probe', signal, onAnswer });
      return { answer, words: '' };
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ChangefeedError) || !('words' in error.facts)) throw error;
      return { answer, words: String(error.facts['words']) };
    }
  };
}

/**
 * `page`: the first page, or the page behind the last one. `again`: the second page once more, after all others. `bad cursor`: a cursor
 * that no server can have given out.
 */
export type Question = 'page' | 'again' | 'bad cursor';

/** How `nextCursor` was sent. */
export type CursorForm = 'text' | 'null' | 'missing' | 'empty text' | 'other';

export interface SamplePage {
  readonly records: readonly UncheckedRecord[];
  readonly cursorForm: CursorForm;
  /** Null unless it is a text that can be sent back. */
  readonly nextCursor: string | null;
}

export interface Sample extends RawAnswer {
  readonly question: Question;
  /** Null for the first page. */
  readonly cursor: string | null;
  /** Null when the answer is not a page. */
  readonly page: SamplePage | null;
}

export function sampleOf(list: ListDescriptor, asked: Omit<Sample, 'page'>): Sample {
  return { ...asked, page: asked.answer?.status === 200 ? pageOf(list, asked.answer.text) : null };
}

/** The pages of the walk, in order. */
export function walkedPages(samples: readonly Sample[]): (Sample & { page: SamplePage })[] {
  return samples.filter((one): one is Sample & { page: SamplePage } => one.question === 'page' && one.page !== null);
}

function pageOf({ key }: ListDescriptor, text: string): SamplePage | null {
  const body = jsonOf(text);
  if (!isObject(body) || body['success'] === false || !isObject(body['data'])) return null;
  const { data } = body;
  const named = key === null ? undefined : data[key];
  const arrays = Array.isArray(named) ? [named] : Object.values(data).filter(Array.isArray);
  const records = arrays.length === 1 ? arrays[0] : undefined;
  if (records?.every(isObject) !== true) return null;
  const source = Object.hasOwn(data, 'nextCursor') ? data : body;
  const cursorForm = formOf(source);
  const cursor = source['nextCursor'];
  return { records, cursorForm, nextCursor: cursorForm === 'text' && typeof cursor === 'string' ? cursor : null };
}

function formOf(source: Readonly<Record<string, unknown>>): CursorForm {
  if (!Object.hasOwn(source, 'nextCursor')) return 'missing';
  const cursor = source['nextCursor'];
  if (cursor === null) return 'null';
  if (cursor === '') return 'empty text';
  return typeof cursor === 'string' ? 'text' : 'other';
}

export function idsOf({ records }: SamplePage): string[] {
  return records.map((record) => JSON.stringify(record['id'] ?? record));
}
