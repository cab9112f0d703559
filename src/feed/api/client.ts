/** The read API over HTTP: all tries of a page, and the connections they share. */
import { Pool } from 'undici';
import type { ListDescriptor } from '../../crm/lists/descriptor.js';
import { withBuiltIn } from '../../crm/lists/lists.js';
import type { BackoffOptions } from '../../kit/backoff.js';
import { systemClock, type Clock } from '../../kit/clock.js';
import { silentLog, type Log } from '../../kit/log.js';
import { parseBaseUrl } from './address.js';
import type { Budget } from './budget.js';
import { createLocalBudget } from './local-budget.js';
import { oneTry, type ObservedTry } from './one-try.js';
import { wholePage, type FetchOptions, type ReadApi } from './read-api.js';
import { redactError, redactLog } from './redact.js';
import { clockApart, requestPage } from './request.js';
import { withRetry, type ApiOutages } from './retry.js';
import { createTokenSource, withToken, type Token } from './token.js';

/** The address of the API, and how it is asked. */
export interface ReadApiOptions {
  workspace: string;
  /** The part of the address before `/v2`, for example `https://crm.example/api`. */
  baseUrl: string;
  /** Sent as a bearer token (section 5 of the interface) and never shown; or a function that gives it. */
  token: Token;
  /** @defaultValue `createLocalBudget()`: 80 requests per 10 s, of this process alone */
  budget?: Budget;
  /** Lists besides the built-in ones. @defaultValue none */
  lists?: readonly ListDescriptor[];
  /** @defaultValue a log that writes nothing */
  log?: Log;
  /** Times the waits between tries. @defaultValue systemClock */
  clock?: Clock;
  /** Numbers in [0, 1) for jitter. @defaultValue Math.random */
  random?: () => number;
  /** The time limit of one try, from connecting to the end of the body, in ms. @defaultValue 30000 */
  timeoutMs?: number;
  /** Tries per page, the first included. @defaultValue 8 */
  attempts?: number;
  /** Waits where the server does not name one. @defaultValue { delayMs: 500, maxDelayMs: 30000 } */
  backoff?: BackoffOptions;
  /** The largest page accepted, in bytes, unpacked. @defaultValue 16777216 */
  maxBytes?: number;
  /** Called after every try. @defaultValue none */
  observe?: (tried: ObservedTry) => void;
  /** Learn whether the API answers, and whether it accepts the token. @defaultValue none */
  outages?: ApiOutages;
}

/** The slowest real answers took 30 s; anything longer is treated as a dead connection. */
const TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** About a minute with the backoff. After a longer outage the next sweep resumes where this one stopped. */
const ATTEMPTS = 8;
const BACKOFF: BackoffOptions = { delayMs: 500, maxDelayMs: 30_000 };
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The read API of one workspace. A failed answer is never an empty page. `clockApartMs`: the clock of the API less ours; null
 * before the first dated answer.
 * @throws ChangefeedError CF_CONFIG_INVALID when baseUrl or token cannot be used
 */
export function createReadApi(options: ReadApiOptions): ReadApi & { clockApartMs: () => number | null } {
  const { workspace, clock = systemClock, random = Math.random, observe = () => undefined } = options;
  const { budget = createLocalBudget(undefined, clock) } = options;
  const { attempts = ATTEMPTS, backoff = BACKOFF, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, outages } = options;
  const address = parseBaseUrl(options.baseUrl, workspace);
  const tokens = createTokenSource(options.token, { workspace, clock });
  const { redact } = tokens;
  const log = redactLog(options.log ?? silentLog, redact);
  const lists = withBuiltIn(options.lists ?? []);
  const pool = new Pool(address.origin, {
    connect: { timeout: Math.min(CONNECT_TIMEOUT_MS, timeoutMs) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const advice = tokens.advice === undefined ? {} : { CF_UNAUTHORISED: tokens.advice };
  const send = requestPage({ pool, address, lists, workspace, clock, redact, advice, timeoutMs, maxBytes });
  const tried = withToken(oneTry(send, { budget, clock, observe }), tokens);
  const fetchPage = withRetry(tried, { attempts, backoff, clock, log, random, outages });
  let apartMs: number | null = null;
  const fetchIfChanged: ReadApi['fetchIfChanged'] = async (list, { kind = 'walk', signal, ...asked }) => {
    signal?.throwIfAborted();
    const onAnswer: NonNullable<FetchOptions['onAnswer']> = (answer) => {
      apartMs = clockApart(answer) ?? apartMs;
      asked.onAnswer?.(answer);
    };
    try {
      return await fetchPage({ ...asked, onAnswer, list, kind, signal, attempt: 1 });
    } catch (error) {
      // After an abort, the caller gets its own reason back unchanged. No other error has the token in it.
      signal?.throwIfAborted();
      throw redactError(error, redact);
    }
  };
  return {
    fetchPage: async (list, options) => wholePage(await fetchIfChanged(list, options)),
    fetchIfChanged,
    clockApartMs: () => apartMs,
    // Closing a pool twice is an error in undici; here it is not.
    close: async () => {
      if (!pool.closed && !pool.destroyed) await pool.close();
    },
  };
}
