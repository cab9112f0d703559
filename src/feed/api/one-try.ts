/** One try of a page: waits for the shared budget, is reported to metrics, and pauses the budget after a 429. */
import type { ListName } from '../../crm/lists/lists.js';
import { ChangefeedError, type ErrorCode } from '../../kit/errors.js';
import type { Clock } from '../../kit/clock.js';
import type { Budget, RequestKind } from './budget.js';
import type { FetchPage, PageRequest } from './request.js';
import { isUnchanged, type FetchedPage } from './read-api.js';
import { rowsOf } from './rows.js';
import { failedTry, requiredWaitMs } from './wait.js';

/** One finished try: numbers and codes only. */
export interface ObservedTry {
  readonly list: ListName;
  readonly kind: RequestKind;
  /** Number of the page within its walk, from 1. */
  readonly page: number;
  readonly attempt: number;
  /** Null when the page was read. */
  readonly code: ErrorCode | null;
  /** HTTP status; null when there was no answer or the try was aborted. */
  readonly status: number | null;
  readonly ms: number;
  /** How long it waited for the budget. */
  readonly waitMs: number;
  /** Size of the page's body; 0 when it was not read. */
  readonly bytes: number;
  /** Rows on the page; 0 when it was not read. */
  readonly records: number;
  /** The failure in words, with the address: `the API at crm.example answered 503`. Absent when the page was read. */
  readonly what?: string;
}

export interface TryOptions {
  budget: Budget;
  clock: Clock;
  observe: (tried: ObservedTry) => void;
}

export function oneTry<Request extends PageRequest>(
  send: FetchPage<Request>,
  { budget, clock, observe }: TryOptions,
): FetchPage<Request> {
  return async (request) => {
    const askedAtMs = clock.monotonic();
    await budget.take(request);
    request.onGrant?.();
    const sentAtMs = clock.monotonic();
    const { list, kind, page, attempt } = request;
    const report = (outcome: Pick<ObservedTry, 'code' | 'status' | 'bytes' | 'records' | 'what'>): void =>
      observe({
        list,
        kind,
        page,
        attempt,
        waitMs: sentAtMs - askedAtMs,
        ms: clock.monotonic() - sentAtMs,
        ...outcome,
      });
    try {
      const read = await send(request);
      report({ code: null, status: 200, bytes: read.bytes, records: rowCountOf(read) });
      return read;
    } catch (error) {
      if (!(error instanceof ChangefeedError)) throw error;
      const { code, facts } = error;
      const status = typeof facts['status'] === 'number' ? facts['status'] : null;
      report({ code, status, bytes: 0, records: 0, ...(typeof facts['what'] === 'string' && { what: facts['what'] }) });
      if (code === 'CF_RATE_LIMITED') await budget.pause(requiredWaitMs(failedTry(error, attempt)) ?? 0);
      throw error;
    }
  };
}

function rowCountOf(page: FetchedPage): number {
  if (isUnchanged(page)) return page.records ?? 0;
  return rowsOf(page).length + (page.unreadable?.length ?? 0);
}
