/**
 * Single answers as they came, for `changefeed probe`: status, headers and body, whatever they are. Each request is taken from the
 * workspace's budget; none is repeated. Sweeps use `client.ts`.
 */
import { Pool } from 'undici';
import { nameOf, type ListRef } from '../crm/lists/lists.js';
import { ChangefeedError } from '../errors.js';
import type { Clock } from '../runtime/clock.js';
import { checkToken, parseBaseUrl } from './address.js';
import { ACCEPT_ENCODING, readBody, textOf } from './body.js';
import type { Budget } from './budget.js';
import { withDeadline } from './deadline.js';
import { createRedactor } from './redact.js';
import { hintMs, requiredWaitMs } from './wait.js';
import { jsonOf, statementsOf, wordsOf } from './words.js';

export interface RawAnswer {
  /** Null when there was no complete answer. */
  readonly status: number | null;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Size of the body, unpacked. */
  readonly bytes: number;
  /** From the request to the end of the body. */
  readonly ms: number;
  /** When the request was sent; ms. */
  readonly askedAt: number;
  /** What a failed answer says, shortened and without the token. */
  readonly words: string;
}

export interface RawRequest {
  readonly list: ListRef;
  /** Null for the first page. */
  readonly cursor: string | null;
  readonly signal?: AbortSignal | undefined;
}

export interface RawApi {
  /** Rejects only when the budget does, or with the signal's reason. */
  ask(request: RawRequest): Promise<RawAnswer>;
  close(): Promise<void>;
}

export interface RawApiOptions {
  workspace: string;
  baseUrl: string;
  token: string;
  budget: Budget;
  clock: Clock;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** @throws ChangefeedError CF_CONFIG_INVALID when baseUrl or token cannot be used */
export function createRawApi({ workspace, baseUrl, token: given, budget, clock }: RawApiOptions): RawApi {
  const address = parseBaseUrl(baseUrl, workspace);
  const token = checkToken(given, workspace);
  const redact = createRedactor(token);
  const pool = new Pool(address.origin, { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': ACCEPT_ENCODING,
    'user-agent': 'crm-changefeed',
  };

  async function send({ list, cursor }: RawRequest, signal: AbortSignal): Promise<Received> {
    const path = address.pathOf(list, cursor);
    const response = await pool.request({ method: 'GET', path, headers, signal });
    response.body.on('error', () => undefined);
    const received = headersOf(response.headers);
    const body = await readBody(response.body, { maxBytes: MAX_BYTES, encoding: received['content-encoding'] });
    return { status: response.statusCode, headers: received, text: textOf(body), bytes: body.length };
  }

  return {
    async ask(request) {
      await budget.take({ list: nameOf(request.list), kind: 'probe', signal: request.signal });
      const [askedAt, started] = [clock.now(), performance.now()];
      const received = await withDeadline({ timeoutMs: TIMEOUT_MS, outer: request.signal }, (signal) =>
        send(request, signal),
      ).catch((error: unknown) => unanswered(error, request.signal));
      const words = isSuccess(received.status) ? '' : wordsOf(received.text, redact);
      if (received.status === 429) await budget.pause(pauseMs(received, askedAt));
      return { ...received, words, askedAt, ms: performance.now() - started };
    },
    close: () => pool.close(),
  };
}

type Received = Pick<RawAnswer, 'status' | 'headers' | 'text' | 'bytes'>;

function unanswered(error: unknown, signal: AbortSignal | undefined): Received {
  signal?.throwIfAborted();
  if (error instanceof ChangefeedError) throw error;
  return { status: null, headers: {}, text: '', bytes: 0 };
}

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status <= 299;
}

function pauseMs({ headers, text }: Received, now: number): number {
  const hint = hintMs(headers['retry-after'], statementsOf(jsonOf(text)), now);
  return requiredWaitMs({ code: 'CF_RATE_LIMITED', hintMs: hint, attempt: 1 }) ?? 0;
}

function headersOf(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value] as const],
  );
  return Object.fromEntries(entries);
}
