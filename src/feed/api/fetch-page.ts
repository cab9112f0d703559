/**
 * The pages of a workspace as a function of its configuration gives them, for a CRM that pages in another way. It takes the place of our HTTP and of
 * nothing else: its answer is written as the page that the API would have sent, and read as one.
 */
import { isObject } from '../../crm/record.js';
import { descriptorOf, nameOf, type ListName, type Lists } from '../../crm/lists/lists.js';
import { onAbort, reasonOf, systemClock, type Clock } from '../../kit/clock.js';
import { describe, messageOf, type ChangefeedError } from '../../kit/errors.js';
import { classOf, codeOfThrown, isPermanent, isUnauthorized, retryAfterMsOf } from '../../kit/thrown.js';
import { placeIn } from '../../kit/user-frame.js';
import { failure, unreadable, type Answer, type Asked } from './failure.js';
import { MOST_RECORDS, readPage } from './page.js';
import type { Redact } from './redact.js';
import { DeadlinePassed, noSuchList, pageDigest, withDeadline, type FetchPage, type PageRequest } from './request.js';

/** What `fetchPage` is asked for. */
export interface FetchPageCall {
  workspace: string;
  list: ListName;
  /** The `next` of the page before; null for the first page. */
  cursor: string | null;
  /** Aborts when nothing waits for the page any more, after 30 s at the latest: pass it to `fetch`. */
  signal: AbortSignal;
}

/** One page, as `fetchPage` gives it. */
export interface FetchPageAnswer {
  /** The records, each an object with an `id`; at most 1,000. */
  rows: readonly object[];
  /** Any text that leads to the next page; null or absent at the end of the list. */
  next?: string | null | undefined;
  /** The time of the answer by the clock of the CRM, such as its `Date` header. @defaultValue not known */
  date?: Date | string | null | undefined;
  /** How many records the list has: a first page without `next` that has fewer is an error. @defaultValue not checked */
  total?: number | undefined;
}

/**
 * Gives a page of a list in place of the requests that Changefeed makes. What it throws is tried again as a failed request is: `RetryAfterError` as a
 * 429, `UnauthorizedError` as a 401, `PermanentError` never, anything else as an API that does not answer.
 */
export type FetchPageFunction = (call: FetchPageCall) => FetchPageAnswer | Promise<FetchPageAnswer>;

export interface FetchPageOptions {
  fetchPage: FetchPageFunction;
  lists: Lists;
  workspace: string;
  clock: Clock;
  redact: Redact;
  timeoutMs: number;
  maxBytes: number;
}

const ADVICE = {
  CF_UNAUTHORISED: 'Give fetchPage the newest token. What is stored is kept, and the sweep goes on where it stopped.',
  CF_REQUEST_REFUSED: 'fetchPage says that asking again is of no use.',
  CF_PAGE_MALFORMED: 'Correct fetchPage of the workspace; docs/lists.md says what it returns.',
};

export function callFetchPage(options: FetchPageOptions): FetchPage {
  const { lists, workspace, clock, redact } = options;
  return async (request) => {
    const list = lists.byName(request.list);
    if (list === undefined) throw noSuchList(workspace, request.list, lists);
    const who = `fetchPage of "${workspace}"`;
    const asked: Asked = { workspace, host: who, list, page: request.page, now: clock.now(), redact, advice: ADVICE };
    const started = systemClock.monotonic();
    const given = await call(options, request, asked);
    const body = bodyOf(given, { asked, cursor: request.cursor, maxBytes: options.maxBytes });
    const digest = await pageDigest(body);
    if (digest === request.knownDigest)
      return { unchanged: true, list: nameOf(list), bytes: body.length, records: request.knownRecords };
    const answer: Answer = {
      ...{ status: 200, headers: headersOf(given, asked), body, bytes: body.length, digest },
      ...{ askedAt: asked.now, ms: systemClock.monotonic() - started },
    };
    request.onAnswer?.(answer);
    return readPage(answer, asked);
  };
}

async function call(
  { fetchPage, workspace, timeoutMs }: FetchPageOptions,
  { list, cursor, signal: outer }: PageRequest,
  asked: Asked,
): Promise<unknown> {
  try {
    return await withDeadline({ timeoutMs, outer }, (signal) => {
      // It may not listen to the signal.
      const aborted = new Promise<never>((_, reject) => void onAbort(signal, () => reject(reasonOf(signal))));
      const asks = Promise.resolve().then(() => fetchPage({ workspace, list, cursor, signal }));
      return Promise.race([asks, aborted]);
    });
  } catch (thrown) {
    outer?.throwIfAborted();
    throw failureOf(thrown, asked, timeoutMs);
  }
}

/** The words of the error are kept apart: they may quote a record. */
function failureOf(thrown: unknown, asked: Asked, timeoutMs: number): ChangefeedError {
  if (thrown instanceof DeadlinePassed)
    return failure('CF_UNAVAILABLE', asked, {
      what: `${asked.host} did not return within ${timeoutMs} ms`,
      cause: thrown,
    });
  const [code, place] = [codeOfThrown(thrown), thrown instanceof Error ? placeIn(thrown.stack ?? '') : undefined];
  const at = place === undefined ? '' : ` at ${place}`;
  const what = `${asked.host} threw ${classOf(thrown)}${code === '' ? '' : ` (${code})`}${at}; its words are in the log with LOG_LEVEL=debug`;
  const waitMs = retryAfterMsOf(thrown) ?? null;
  const kind =
    waitMs !== null
      ? 'CF_RATE_LIMITED'
      : isUnauthorized(thrown)
        ? 'CF_UNAUTHORISED'
        : isPermanent(thrown)
          ? 'CF_REQUEST_REFUSED'
          : 'CF_UNAVAILABLE';
  return failure(kind, asked, { what, retryAfterMs: waitMs, said: asked.redact(messageOf(thrown)) });
}

interface Given {
  asked: Asked;
  cursor: string | null;
  maxBytes: number;
}

/** The page as the API would have sent it. @throws ChangefeedError CF_PAGE_MALFORMED */
function bodyOf(given: unknown, { asked, cursor, maxBytes }: Given): Buffer {
  const wrong = (what: string): Error => unreadable(asked, { status: null, what: `${asked.host}: ${what}` });
  if (!isObject(given)) throw wrong(`expected { rows, next }, found ${describe(given)}`);
  const { rows, total } = given;
  if (!Array.isArray(rows)) throw wrong(`expected "rows" to be an array, found ${describe(rows)}`);
  if (rows.length > MOST_RECORDS) throw wrong(`expected at most ${MOST_RECORDS} rows, found ${rows.length}`);
  const next = nextOf(given['next'] ?? null, wrong);
  if (next !== null && next === cursor)
    throw wrong('expected "next" to lead on, found the cursor that was asked for: the list would have no end');
  if (total !== undefined && typeof total !== 'number')
    throw wrong(`expected "total" to be a number, found ${describe(total)}`);
  if (next === null && asked.page === 1 && total !== undefined && total > rows.length)
    throw wrong(`expected "next" beside "total": the list has ${total} records, and ends after ${rows.length}`);
  const { key } = descriptorOf(asked.list);
  const text = textOf({ data: { [key ?? 'rows']: rows, nextCursor: next } }, wrong);
  const body = Buffer.from(text);
  if (body.length > maxBytes) throw wrong(`expected a page of at most ${maxBytes} bytes, found ${body.length}`);
  return body;
}

function nextOf(next: unknown, wrong: (what: string) => Error): string | null {
  if (next === null || next === '') return null;
  if (typeof next === 'string') return next;
  throw wrong(`expected "next" to be a text or null, found ${describe(next)}`);
}

function textOf(page: object, wrong: (what: string) => Error): string {
  try {
    return JSON.stringify(page);
  } catch {
    try {
      // As of an answer in JSON, a number that is too large for JavaScript is a text.
      return JSON.stringify(page, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    } catch (error) {
      throw wrong(`expected rows that can be written as JSON, and writing them threw ${classOf(error)}`);
    }
  }
}

function headersOf(given: unknown, asked: Asked): Answer['headers'] {
  const { date } = given as { date?: unknown };
  if (date === undefined || date === null) return {};
  const time = date instanceof Date || typeof date === 'string' ? new Date(date) : new Date(Number.NaN);
  if (Number.isNaN(time.getTime()))
    throw unreadable(asked, {
      status: null,
      what: `${asked.host}: expected "date" to be a time, found ${describe(date)}`,
    });
  return { date: time.toUTCString() };
}
