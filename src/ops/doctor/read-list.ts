/** Describes the first pages of a list without contents of records: expected fields, numbers, the cursor. */
import type { Answer } from '../../feed/api/failure.js';
import type { Page, ReadApi } from '../../feed/api/read-api.js';
import { jsonOf } from '../../feed/api/words.js';
import { fieldsOf } from '../../crm/known-fields.js';
import type { ListDescriptor } from '../../crm/lists/descriptor.js';
import { ChangefeedError, type ErrorCode } from '../../kit/errors.js';

export interface ReadList {
  readonly list: ListDescriptor;
  /** Empty when the first page could not be read. */
  readonly pages: readonly Page[];
  /** Why the page after these could not be read; null when it was not asked for. */
  readonly failed: FailedPage | null;
  readonly answers: readonly Answer[];
}

export interface FailedPage {
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  readonly what: string;
  /** The API does not take the token, or there is none. */
  readonly isRefused: boolean;
}

export interface ReadOptions {
  list: ListDescriptor;
  pages: number;
  signal: AbortSignal;
}

const REFUSED: readonly ErrorCode[] = ['CF_UNAUTHORISED', 'CF_FORBIDDEN'];

/** @param api asks once: it is made with `attempts: 1` */
export async function readList(api: ReadApi, { list, pages: most, signal }: ReadOptions): Promise<ReadList> {
  const pages: Page[] = [];
  const answers: Answer[] = [];
  const onAnswer = (answer: Answer): void => void answers.push(answer);
  for (let cursor: string | null | undefined = null; cursor !== undefined;) {
    try {
      const page: Page = await api.fetchPage(list.name, { cursor, page: pages.length + 1, signal, onAnswer });
      pages.push(page);
      cursor = pages.length < most ? (page.nextCursor ?? undefined) : undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ChangefeedError) || typeof error.facts['what'] !== 'string') throw error;
      const { status, what } = error.facts;
      return {
        list,
        pages,
        answers,
        failed: { status: typeof status === 'number' ? status : null, what, isRefused: REFUSED.includes(error.code) },
      };
    }
  }
  return { list, pages, answers, failed: null };
}

export function keyOf({ list: { key }, answers: [first] }: ReadList): string {
  const { data } = jsonOf(first?.body.toString() ?? '') as { data: Readonly<Record<string, unknown>> };
  const arrays = Object.keys(data).filter((name) => Array.isArray(data[name]));
  return arrays.find((name) => name === key) ?? arrays[0] ?? '';
}

export interface ExpectedFields {
  readonly found: number;
  readonly missing: readonly string[];
}

/** The fields that the descriptor names, and for a list of the interface those that the interface shows. */
export function expectedFields({ list, pages }: ReadList): ExpectedFields {
  const names = new Set(pages.flatMap(({ records }) => records.flatMap((record) => Object.keys(record))));
  const expected = expectedNames(list);
  const missing = expected.filter((one) => !one.some((name) => names.has(name)));
  return { found: expected.length - missing.length, missing: missing.map(([name]) => name ?? '') };
}

/** Each field under all names that it may have. */
function expectedNames(list: ListDescriptor): string[][] {
  const { name, modifiedAt, createdAt, growsOnly, history, open, spellings } = list;
  const stamps = [[...createdAt], growsOnly ? [] : [...modifiedAt], history?.of.map(({ field }) => field) ?? []];
  const written = fieldsOf(name).filter(({ from }) => from === 'written');
  const roles = [open?.field, open?.due, history?.changed, history?.value, history?.actor];
  const single = new Set([...roles, ...written.map((field) => field.name)].filter((field) => field !== undefined));
  for (const field of stamps.flat()) single.delete(field);
  const others = (field: string): string[] => Object.keys(spellings).filter((other) => spellings[other] === field);
  return [...stamps.filter((one) => one.length > 0), ...[...single].map((field) => [field, ...others(field)])];
}
