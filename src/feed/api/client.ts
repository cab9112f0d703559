/** The read API, over HTTP or by a function of the configuration: all tries of a page, and the connections they share. */
import { Pool } from 'undici';
import type { ListDescriptor } from '../../crm/lists/descriptor.js';
import { withBuiltIn } from '../../crm/lists/lists.js';
import type { BackoffOptions } from '../../kit/backoff.js';
import { systemClock, type Clock } from '../../kit/clock.js';
import { silentLog, type Log } from '../../kit/log.js';
import { parseBaseUrl } from './address.js';
import type { Budget } from './budget.js';
import { callFetchPage, type FetchPageFunction } from './fetch-page.js';
import { createLocalBudget } from './local-budget.js';
import { oneTry, type ObservedTry } from './one-try.js';
import { wholePage, type FetchOptions, type ReadApi } from './read-api.js';
import { createRedactor, redactError, redactLog, type Redact } from './redact.js';
import { clockApart, requestPage, type FetchPage } from './request.js';
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

type Api = ReadApi & {
  /** The clock of the API less ours; null before the first dated answer. */
  clockApartMs: () => number | null;
};

/**
 * The read API of one workspace over HTTP. A failed answer is never an empty page.
 * @throws ChangefeedError CF_CONFIG_INVALID when baseUrl or token cannot be used
 */
export function createReadApi(options: ReadApiOptions): Api {
  const { workspace, timeoutMs = TIMEOUT_MS } = options;
  const address = parseBaseUrl(options.baseUrl, workspace);
  const known = withDefaults(options);
  const tokens = createTokenSource(options.token, known);
  const pool = new Pool(address.origin, {
    connect: { timeout: Math.min(CONNECT_TIMEOUT_MS, timeoutMs) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const advice = tokens.advice === undefined ? {} : { CF_UNAUTHORISED: tokens.advice };
  const send = requestPage({ ...known, pool, address, redact: tokens.redact, advice });
  return readApiOver(withToken(oneTry(send, known), tokens), {
    ...{ ...known, redact: tokens.redact },
    // Closing a pool twice is an error in undici; here it is not.
    close: async () => {
      if (!pool.closed && !pool.destroyed) await pool.close();
    },
  });
}

/** How a workspace is read: over HTTP, or by a function. */
export type SourceOptions = Omit<ReadApiOptions, 'baseUrl' | 'token'> & {
  baseUrl?: string | undefined;
  token?: Token | undefined;
  fetchPage?: FetchPageFunction | undefined;
};

/** @throws ChangefeedError CF_CONFIG_INVALID when there is no `fetchPage`, and baseUrl or token cannot be used */
export function openReadApi({ fetchPage, baseUrl = '', token = '', ...options }: SourceOptions): Api {
  if (fetchPage === undefined) return createReadApi({ ...options, baseUrl, token });
  const known = withDefaults(options);
  const redact = typeof token === 'string' && token !== '' ? createRedactor(token) : createRedactor();
  const send = callFetchPage({ ...known, fetchPage, redact });
  return readApiOver(oneTry(send, known), { ...known, redact, close: () => Promise.resolve() });
}

type Known = ReturnType<typeof withDefaults>;

function withDefaults(options: Omit<ReadApiOptions, 'baseUrl' | 'token'>) {
  const { clock = systemClock } = options;
  return {
    workspace: options.workspace,
    clock,
    random: options.random ?? Math.random,
    observe: options.observe ?? (() => undefined),
    budget: options.budget ?? createLocalBudget(undefined, clock),
    attempts: options.attempts ?? ATTEMPTS,
    backoff: options.backoff ?? BACKOFF,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    maxBytes: options.maxBytes ?? MAX_BYTES,
    outages: options.outages,
    log: options.log ?? silentLog,
    lists: withBuiltIn(options.lists ?? []),
  };
}

/** All tries of a page, whatever asks for it. */
function readApiOver(
  tried: FetchPage,
  { redact, close, ...options }: Known & { redact: Redact; close: () => Promise<void> },
): Api {
  const fetchPage = withRetry(tried, { ...options, log: redactLog(options.log, redact) });
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
    fetchPage: async (list, asked) => wholePage(await fetchIfChanged(list, asked)),
    fetchIfChanged,
    clockApartMs: () => apartMs,
    close,
  };
}
