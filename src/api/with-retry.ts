/**
 * The retry layer: which failures are tried again, how often, and after what wait.
 *
 * A 429 is tried again up to `attempts` times. The wait is what the server asks for, otherwise 10 s, doubled with each attempt, at
 * most 60 s (`wait.ts`). `with-budget.ts` makes all processes of the workspace wait for the same time.
 */
import { ChangefeedError } from '../errors.js';
import type { BackoffOptions } from '../runtime/backoff.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import type { Layer, PageRequest } from './layers.js';
import { failedTry, waitMs } from './wait.js';

export interface RetryOptions {
  /** Tries in all, the first included. */
  attempts: number;
  backoff: BackoffOptions;
  clock: Clock;
  log: Log;
  random: () => number;
}

/** A body that is wrong four times is not a slip of the network. */
const MALFORMED_ATTEMPTS = 4;
/** `success: false` under 200 and 408 might pass; asking for ever would hide what the server has to say. */
const REFUSED_ATTEMPTS = 3;

export function withRetry({ attempts, backoff, clock, log, random }: RetryOptions): Layer {
  return (next) => async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await next({ ...request, attempt });
      } catch (error) {
        request.signal?.throwIfAborted();
        if (!(error instanceof ChangefeedError)) throw error;
        if (attempt >= Math.min(attempts, attemptsFor(error))) throw givenUp(error, attempt);
        const wait = waitMs(failedTry(error, attempt), backoff, random());
        log.warn(factsOf(error, request, { attempt, waitMs: wait }), 'page not read, asking again');
        await clock.sleep(wait, request.signal);
      }
    }
  };
}

function attemptsFor({ code, facts }: ChangefeedError): number {
  if (code === 'CF_RATE_LIMITED' || code === 'CF_UNAVAILABLE') return Number.POSITIVE_INFINITY;
  if (code === 'CF_PAGE_MALFORMED') return MALFORMED_ATTEMPTS;
  const mayPass = code === 'CF_REQUEST_REFUSED' && (facts['status'] === 408 || Number(facts['status']) < 300);
  return mayPass ? REFUSED_ATTEMPTS : 1;
}

function givenUp(error: ChangefeedError, attempts: number): ChangefeedError {
  if (attempts === 1) return error;
  const message = `${error.message} Given up after ${attempts} attempts.`;
  return new ChangefeedError(error.code, { ...error.facts, attempts, message, cause: error.cause });
}

function factsOf(error: ChangefeedError, request: PageRequest, more: object): object {
  const { status, words } = error.facts;
  return { list: request.list, page: request.page, code: error.code, status, words, ...more };
}
