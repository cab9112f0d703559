/** The layer that reports each try to metrics: numbers and codes only. */
import { ChangefeedError, type ErrorCode } from '../errors.js';
import type { ListName } from '../crm/lists/lists.js';
import type { Clock } from '../runtime/clock.js';
import type { RequestKind } from './budget.js';
import type { Layer, PageRequest } from './layers.js';

/** One finished try. */
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
  /** What the API did, with its address: `the API at crm.example answered 503`. Absent when the page was read. */
  readonly what?: string;
}

export function withObserver(observe: (tried: ObservedTry) => void, clock: Clock): Layer {
  return (next) => async (request) => {
    const startedAt = clock.now();
    const report = (outcome: Pick<ObservedTry, 'code' | 'status' | 'bytes' | 'what'>): void =>
      observe({ ...nameOf(request), ...outcome, ms: clock.now() - startedAt });
    try {
      const page = await next(request);
      report({ code: null, status: 200, bytes: page.bytes });
      return page;
    } catch (error) {
      if (error instanceof ChangefeedError) {
        const { what } = error.facts;
        const said = typeof what === 'string' ? { what } : {};
        report({ code: error.code, status: statusOf(error), bytes: 0, ...said });
      }
      throw error;
    }
  };
}

function nameOf(request: PageRequest): Pick<ObservedTry, 'list' | 'kind' | 'page' | 'attempt' | 'waitMs'> {
  const { list, kind, page, attempt, waitedMs = 0 } = request;
  return { list, kind, page, attempt, waitMs: waitedMs };
}

function statusOf({ facts }: ChangefeedError): number | null {
  return typeof facts['status'] === 'number' ? facts['status'] : null;
}
