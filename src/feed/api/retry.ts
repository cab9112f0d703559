/**
 * Tries a page again. A 429 waits as the server asks, otherwise 10 s, doubled each time, at most 60 s. It pauses the budget of all processes
 * (lua/pause-budget.lua) and lowers what they may ask for (allowance.ts). In the end the checkpoint stays.
 */
import { ChangefeedError } from '../../kit/errors.js';
import type { BackoffOptions } from '../../kit/backoff.js';
import type { Clock } from '../../kit/clock.js';
import type { Episode } from '../../kit/episode.js';
import type { Log } from '../../kit/log.js';
import type { FetchPage, PageRequest } from './request.js';
import { failedTry, waitMs } from './wait.js';

export interface RetryOptions {
  attempts: number;
  backoff: BackoffOptions;
  clock: Clock;
  log: Log;
  random: () => number;
  /** Learn whether the API answers, and whether it accepts the token. @defaultValue none */
  outages?: ApiOutages | undefined;
}

export interface ApiOutages {
  away: Episode;
  refused: Episode;
}

/** A body that is wrong four times is not a slip of the network. */
const MALFORMED_ATTEMPTS = 4;
/** `success: false` under 200 and 408 might pass; asking again without end would hide what the server has to say. */
const REFUSED_ATTEMPTS = 3;

export function withRetry(oneTry: FetchPage, options: RetryOptions): FetchPage {
  const { attempts, backoff, clock, log, random, outages } = options;
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const page = await oneTry({ ...request, attempt });
        note(outages, null);
        return page;
      } catch (error) {
        request.signal?.throwIfAborted();
        if (!(error instanceof ChangefeedError)) throw error;
        note(outages, error);
        if (attempt >= Math.min(attempts, attemptsFor(error))) throw givenUp(error, attempt);
        const wait = waitMs(failedTry(error, attempt), backoff, random());
        // A page that stays unread ends its sweep, which is logged.
        log.debug(factsOf(error, request, { attempt, waitMs: wait }), 'page not read, asking again');
        await clock.sleep(wait, request.signal);
      }
    }
  };
}

function note(outages: ApiOutages | undefined, error: ChangefeedError | null): void {
  if (error?.code === 'CF_UNAVAILABLE') return void outages?.away.failed(reasonOf(error));
  outages?.away.over();
  if (error?.code === 'CF_UNAUTHORISED') outages?.refused.failed(reasonOf(error));
  else if (error === null) outages?.refused.over();
}

function attemptsFor({ code, facts }: ChangefeedError): number {
  if (code === 'CF_RATE_LIMITED' || code === 'CF_UNAVAILABLE') return Number.POSITIVE_INFINITY;
  if (code === 'CF_PAGE_MALFORMED') return MALFORMED_ATTEMPTS;
  const { status } = facts;
  const mayPass = code === 'CF_REQUEST_REFUSED' && typeof status === 'number' && (status === 408 || status < 300);
  return mayPass ? REFUSED_ATTEMPTS : 1;
}

/** Leaves out the server's words: they are in the debug line and in the error of the sweep. */
function reasonOf({ code, facts: { status }, cause }: ChangefeedError): object {
  const reason = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  return { code, ...(typeof status === 'number' ? { status } : { reason }) };
}

function givenUp(error: ChangefeedError, attempts: number): ChangefeedError {
  if (attempts === 1) return error;
  const message = `${error.message} Given up after ${attempts} attempts.`;
  return new ChangefeedError(error.code, { ...error.facts, attempts, message, said: error.said, cause: error.cause });
}

function factsOf(error: ChangefeedError, request: PageRequest, more: object): object {
  const { status, words } = error.facts;
  const said = error.said === '' ? undefined : error.said;
  return { list: request.list, page: request.page, code: error.code, status, words, said, ...more };
}
