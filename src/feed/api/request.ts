/** One GET, read to its end. Follows no redirect and does not repeat the request. */
import type { Dispatcher, Pool } from 'undici';
import { ChangefeedError, reasonOfConnection } from '../../kit/errors.js';
import { nameOf, type ListName, type Lists } from '../../crm/lists/lists.js';
import { systemClock, type Clock, onAbort, OVER } from '../../kit/clock.js';
import type { ApiAddress } from './address.js';
import type { RequestKind } from './budget.js';
import { ACCEPT_ENCODING, BodyRefused, BodyTooLarge, readBody, utf8 } from './body.js';
import { headerOf, noAnswer, smallerPages, unreadable, type Answer, type Asked } from './failure.js';
import { readPage } from './page.js';
import type { FetchedPage, FetchOptions, KnownPage, UnchangedPage } from './read-api.js';
import type { Redact } from './redact.js';

/** Enough for the text of any error; a longer body is not read. */
const MAX_ERROR_BYTES = 256 * 1024;

export interface PageRequest extends FetchOptions, KnownPage {
  readonly list: ListName;
  readonly kind: RequestKind;
  readonly attempt: number;
}

/** With the token of this try. */
export interface Authorised extends PageRequest {
  readonly token: string;
}

export type FetchPage<Request = PageRequest> = (request: Request) => Promise<FetchedPage>;

export interface RequestOptions {
  pool: Pool;
  address: ApiAddress;
  lists: Lists;
  workspace: string;
  clock: Clock;
  redact: Redact;
  advice?: Asked['advice'];
  timeoutMs: number;
  maxBytes: number;
}

export function requestPage(options: RequestOptions): FetchPage<Authorised> {
  const { address, lists, workspace, clock, redact, advice, timeoutMs, pool } = options;
  return async (request) => {
    const list = lists.byName(request.list);
    if (list === undefined) throw noSuchList(workspace, request.list, lists);
    const asked: Asked = {
      workspace,
      host: address.host,
      list,
      page: request.page,
      now: clock.now(),
      redact,
      ...(advice && { advice }),
    };
    if (pool.closed || pool.destroyed) {
      throw new ChangefeedError('CF_INTERNAL', { workspace, message: 'A page was asked for after close().' });
    }
    const answer = await withDeadline({ timeoutMs, outer: request.signal }, (signal) =>
      ask(options, { ...request, asked }, signal),
    );
    if ('unchanged' in answer) return answer;
    request.onAnswer?.(answer);
    return readPage(answer, asked);
  };
}

/** The API's clock less ours, ms, by the `Date` of an answer; null without one. It has whole seconds: half is added. */
export function clockApart({ headers, askedAt, ms }: Answer): number | null {
  const apartMs = Date.parse(String(headers['date'])) + 500 - (askedAt + ms / 2);
  return Number.isNaN(apartMs) ? null : apartMs;
}

export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** Ends answers that arrive byte by byte too. In real time, as sockets are, even when a test stops the clock. */
export async function withDeadline<T>(
  { timeoutMs, outer }: { timeoutMs: number; outer: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted();
  // Not AbortSignal.any: a long-lived outer signal would collect one dependent for every page ever fetched.
  const inner = new AbortController();
  const forget = outer && onAbort(outer, () => inner.abort(outer.reason));
  systemClock.sleep(timeoutMs, inner.signal).then(
    () => inner.abort(new DeadlinePassed(`nothing complete within ${timeoutMs} ms`)),
    () => undefined,
  );
  try {
    return await work(inner.signal);
  } catch (error) {
    // After an abort by the caller, the error is the caller's own reason and not what the aborted work threw.
    outer?.throwIfAborted();
    throw error;
  } finally {
    forget?.();
    inner.abort(OVER);
  }
}

interface Ask extends KnownPage {
  token: string;
  cursor: string | null;
  asked: Asked;
}

async function ask(options: RequestOptions, wanted: Ask, signal: AbortSignal): Promise<Answer | UnchangedPage> {
  const { asked, knownDigest, knownRecords } = wanted;
  const [askedAt, started] = [asked.now, systemClock.monotonic()];
  let response: Dispatcher.ResponseData;
  try {
    response = await send(options, wanted, signal);
  } catch (error) {
    const what = error instanceof DeadlinePassed ? `did not answer within ${options.timeoutMs} ms` : 'did not answer';
    throw noAnswer(asked, { status: null, what: `the API at ${asked.host} ${what}${named(error)}`, cause: error });
  }
  const { statusCode: status, headers, body } = response;
  // Destroying a body that was not read to its end emits an error event; without a listener it would end the process.
  body.on('error', () => undefined);
  const facts = (content: Buffer) => {
    const ms = systemClock.monotonic() - started;
    return { status, headers, askedAt, ms, body: content, bytes: content.length };
  };
  const encoding = headerOf(response, 'content-encoding');
  if (status < 200 || status > 299)
    return facts(await errorBody(readBody(body, { maxBytes: MAX_ERROR_BYTES, encoding })));
  const length = headerOf(response, 'content-length');
  return await usableBody({ asked, status }, async () => {
    const content = await readBody(body, { maxBytes: options.maxBytes, encoding, length });
    const digest = await pageDigest(content);
    if (digest === knownDigest)
      return { unchanged: true, list: nameOf(asked.list), bytes: content.length, records: knownRecords };
    return { ...facts(content), body: utf8(content), digest };
  });
}

function send({ pool, address }: RequestOptions, { asked: { list }, cursor, token }: Ask, signal: AbortSignal) {
  return pool.request({
    method: 'GET',
    path: address.pathOf(list, cursor),
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-encoding': ACCEPT_ENCODING,
      'user-agent': 'crm-changefeed',
    },
    signal,
  });
}

async function usableBody<T>({ asked, status }: { asked: Asked; status: number }, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof BodyRefused) {
      const advice = error instanceof BodyTooLarge ? smallerPages(asked.list) : undefined;
      throw unreadable(asked, { status, what: error.message, advice, cause: error.cause });
    }
    const what = `the answer of the API at ${asked.host} stopped before its end${named(error)}`;
    throw noAnswer(asked, { status, what, cause: error });
  }
}

export function noSuchList(workspace: string, list: ListName, { all }: Lists): ChangefeedError {
  return new ChangefeedError('CF_USAGE', {
    workspace,
    list,
    message: `There is no list "${list}". The lists are ${all.map(({ name }) => name).join(', ')}.`,
  });
}

/** The body of a failed answer is optional: it may be missing, endless or incomplete, and the status is enough. */
async function errorBody(reading: Promise<Buffer>): Promise<Buffer> {
  return await reading.catch(() => Buffer.alloc(0));
}

/** The code of the error, if it has one: `ECONNREFUSED`, `UND_ERR_SOCKET`. */
function named(error: unknown): string {
  return error instanceof Error && 'code' in error ? ` (${reasonOfConnection(error)})` : '';
}

import xxhash, { type XXHashAPI } from 'xxhash-wasm';

let loading: Promise<XXHashAPI> | undefined;

/** The hashed bytes are copied into the memory of the WebAssembly module, which grows with it and never shrinks. */
const CHUNK_BYTES = 1024 * 1024;

/** 64 bits of xxHash and the length: SHA-256 takes longer than the download. A forger of pages needs no collision. */
export async function pageDigest(bytes: Uint8Array): Promise<string> {
  loading ??= xxhash();
  const hash = (await loading).create64();
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) hash.update(bytes.subarray(at, at + CHUNK_BYTES));
  return `${hash.digest().toString(36)}-${bytes.length.toString(36)}`;
}
