/** Turns an answer into a page or a typed error. A failure read as an empty list would remove every record. Pure. */
import { describe } from '../../kit/errors.js';
import { textOf } from '../../kit/utf8.js';
import { malformed, refusal, smallerPages, statusFailure, type Answer, type Asked } from './failure.js';
import type { ListDescriptor } from '../../crm/lists/descriptor.js';
import { descriptorOf, nameOf } from '../../crm/lists/lists.js';
import { isObject, type UncheckedRecord } from '../../crm/record.js';
import type { Page } from './read-api.js';
import { CutRow, cutRows, parsedRow } from './rows.js';
import { whyUnreadable } from './unreadable.js';
import { jsonOf } from './words.js';

/** One script commits a page while other clients of Redis wait: 20 ms for 1,000 records, 2.4 s for 60,000. */
export const MOST_RECORDS = 1_000;

/** @throws CF_UNAUTHORISED, CF_FORBIDDEN, CF_RATE_LIMITED, CF_UNAVAILABLE, CF_REQUEST_REFUSED, CF_PAGE_MALFORMED */
export function readPage(answer: Answer, asked: Asked): Page {
  if (answer.status < 200 || answer.status > 299) throw statusFailure(answer, asked);
  const fail = (what: string) => malformed(answer, asked, what);

  const parse = (text: string): unknown => {
    const parsed = jsonOf(withExactIntegers(text));
    if (parsed === undefined) throw fail(`expected JSON, found ${formOf(text)}`);
    return parsed;
  };
  const cut = cutRows(answer.body, (bytes) => parse(textOf(bytes)) as UncheckedRecord);
  const body = parse(cut?.envelope ?? textOf(answer.body));
  if (!isObject(body)) throw fail(`expected a JSON object, found ${describe(body)}`);
  if (body['success'] === false) throw refusal(answer, asked);
  if (body['success'] !== true && body['success'] !== undefined) {
    throw fail(`expected "success" to be true, found ${describe(body['success'])}`);
  }
  const data = body['data'];
  if (!isObject(data)) throw fail(`expected "data" to be an object, found ${describe(data)}`);

  const list = descriptorOf(asked.list);
  const elements = arrayOf(data, list, fail);
  const all = cut === null ? recordsOf(elements, fail).map(parsedRow) : cut.rowsAt(elements);
  if (all.length > MOST_RECORDS)
    throw malformed(answer, asked, `expected at most ${MOST_RECORDS} records, found ${all.length}`, smallerPages(list));
  const nextCursor = cursorOf(body, data, fail);
  const reasons = all.map((row) => (row instanceof CutRow ? null : whyUnreadable(row.record)));
  const rows = all.filter((_row, index) => reasons[index] === null);
  const unreadable = reasons.filter((reason) => reason !== null);
  let records: UncheckedRecord[] | undefined;
  const { bytes, digest } = answer;
  const saysEnd = nextCursor === null && [data, body].some((part) => Object.hasOwn(part, 'nextCursor'));
  const more = nextCursor === null ? namesMore([data, body], { page: asked.page, rows: all.length }) : null;
  if (more !== null) throw malformed(answer, asked, `expected a "nextCursor" beside ${more}`, ONLY_CURSORS);
  return {
    ...{ list: nameOf(asked.list), rows, nextCursor, bytes, digest },
    ...(saysEnd && { saysEnd }),
    ...(unreadable.length > 0 && { unreadable }),
    get records() {
      return (records ??= rows.map(({ record }) => record));
    },
  };
}

/** Integers beyond 2^53 become strings. JSON.parse would round them: a change in the last digits would go unnoticed. */
function withExactIntegers(json: string): string {
  if (!/\d{16}/.test(json)) return json;
  let isInString = false;
  return json.replace(/\\.|"|-?\d[\d.eE+-]{15,}/gs, (token) => {
    if (token === '"') isInString = !isInString;
    const isRounded = !isInString && /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token));
    return isRounded ? `"${token}"` : token;
  });
}

type Fail = (what: string) => Error;

/** Under the list's key. If that is missing or unknown, the only array in `data`: the key may have been renamed. */
function arrayOf(data: UncheckedRecord, list: ListDescriptor, fail: Fail): readonly unknown[] {
  const { key } = list;
  const value = key === null ? undefined : data[key];
  if (Array.isArray(value)) return value;
  if (key !== null && value !== undefined) throw fail(`expected "${key}" to be an array, found ${describe(value)}`);
  const arrays = Object.entries(data).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const [name, only] = arrays[0] ?? ['', []];
  if (arrays.length !== 1)
    throw fail(
      wrongNumber(
        list,
        arrays.map(([other]) => other),
      ),
    );
  if (only.length === 0 && !mayBeEmptyList(list, name))
    throw fail(`expected an array "${key ?? `${list.object}List`}", found one empty array of another name`);
  return only;
}

function wrongNumber({ name, key }: ListDescriptor, arrays: readonly string[]): string {
  if (key !== null) return `expected an array "${key}", found ${arrays.length} arrays of other names`;
  const expected = 'expected exactly one array in "data"';
  if (arrays.length === 0) return `${expected}, found none`;
  return `${expected}, found ${arrays.length} (${arrays.join(', ')}); name the right one in lists.${name}.key`;
}

/** An empty array "errors" is no empty list. Any other name is possible where the interface does not show the key. */
function mayBeEmptyList({ key, keyIsWritten }: ListDescriptor, name: string): boolean {
  if (name.endsWith('List')) return true;
  return (key === null || !keyIsWritten) && !/error|warning|message/i.test(name);
}

function recordsOf(list: readonly unknown[], fail: Fail): readonly UncheckedRecord[] {
  const odd = list.findIndex((element) => !isObject(element));
  if (odd !== -1) throw fail(`expected every element to be an object, found ${describe(list[odd])} at ${odd}`);
  return list as readonly UncheckedRecord[];
}

/** In `data`, or in the envelope, because a missed cursor would end the list too early. */
function cursorOf(body: UncheckedRecord, data: UncheckedRecord, fail: Fail): string | null {
  const cursor = (Object.hasOwn(data, 'nextCursor') ? data : body)['nextCursor'] ?? null;
  if (cursor === null || cursor === '') return null;
  if (typeof cursor !== 'string') throw fail(`expected "nextCursor" to be a string or null, found ${describe(cursor)}`);
  if (/\p{Surrogate}/u.test(cursor)) throw fail('"nextCursor" holds half a character and cannot be sent back');
  return cursor;
}

const ONLY_CURSORS =
  'The API names more than this page shows, and Changefeed follows "nextCursor" only: read the list by fetchPage (docs/lists.md).';
const TOTALS = ['total', 'totalCount', 'total_count'];
const PAGES = ['pages', 'totalPages', 'total_pages', 'pageCount'];
const MORE = ['hasMore', 'has_more', 'hasNext', 'hasNextPage'];

/** Words of other ways of paging. What is counted is the whole list: on a later page it says nothing about what follows. */
function namesMore(parts: readonly UncheckedRecord[], { page, rows }: { page: number; rows: number }): string | null {
  const named = [
    ...parts,
    ...parts.flatMap(({ pagination, paging, meta }) => [pagination, paging, meta].filter(isObject)),
  ];
  const beyond = (names: readonly string[], isMore: (value: unknown) => boolean): string | undefined =>
    names.find((name) => named.some((part) => isMore(part[name])));
  const above = (least: number) => (value: unknown) => page === 1 && typeof value === 'number' && value > least;
  const name = beyond(TOTALS, above(rows)) ?? beyond(PAGES, above(1)) ?? beyond(MORE, (value) => value === true);
  return name === undefined ? null : `"${name}"`;
}

function formOf(text: string): string {
  const start = text.trimStart();
  if (start === '') return 'an empty body';
  if (/^<(!doctype|html|\?xml)/i.test(start)) return `an HTML page of ${text.length} characters`;
  if (/^[{[]/.test(start)) return `JSON that breaks off or is damaged, ${text.length} characters long`;
  return `a text of ${text.length} characters`;
}
