/**
 * Every error has a stable code from this table. Its message says what happened, where, and what to do. Messages name types and
 * sizes, never record contents and never tokens. `docs/errors.md` has one row per code (tested).
 */
export const ERROR_CODES = {
  CF_CONFIG_INVALID: 'The configuration misses a required option or has a value that is not allowed.',
  CF_CONFIG_UNLOADABLE: 'The configuration file could not be found, read or evaluated.',
  CF_USAGE: 'The command or call asks for something that does not exist.',
  CF_UNAUTHORISED: 'The API rejected the token (401).',
  CF_FORBIDDEN: 'The API denied access for this token, plan or address (403).',
  CF_RATE_LIMITED: 'The API kept answering 429 until all attempts were used.',
  CF_UNAVAILABLE: 'The API could not be reached, did not answer in time, or answered with a server error.',
  CF_REQUEST_REFUSED:
    'The API rejected the request (a 4xx other than 401, 403 and 429, a redirect, or success: false).',
  CF_PAGE_MALFORMED: 'A page does not have the form that the interface describes.',
  CF_CURSOR_LOOP:
    'A cursor repeated, led back to the first page, or there was no last page: the sweep cannot be complete.',
  CF_LEASE_LOST: 'Another process took over this sweep; what this process had not committed is done there.',
  CF_WORKSPACE_BUSY: 'The workspace cannot be changed or forgotten while others work on it.',
  CF_TOKEN_SEALED: 'The stored token of a workspace cannot be opened with the keys that this process has.',
  CF_SOURCE_CHANGED: 'The API shows other records than those of the baseline.',
  CF_SWEEP_INCOMPLETE: 'A sweep stopped before the end of its list; its checkpoint is kept.',
  CF_REDIS_UNREACHABLE: 'Redis could not be reached, or refused the connection.',
  CF_PORT_TAKEN: 'The address of the status page is taken by another program.',
  CF_REDIS_EVICTS: 'Redis is configured to evict keys when its memory is full, which would lose state.',
  CF_REDIS_REFUSES:
    'Redis rejects writes: its memory is full, it cannot save its data, it is a read-only replica, or its user lacks a right.',
  CF_REDIS_MISSING: 'No Redis is configured and none could be started.',
  CF_STATE_DIR: 'The state directory cannot be written, or others may write in it.',
  CF_STATE_LOST: 'The stored state of a list is gone from Redis.',
  CF_STATE_UNREADABLE: 'A value in Redis is damaged, or another release wrote it.',
  CF_STATE_FORMAT: 'The state in Redis has the format of another release.',
  CF_HANDLER_TIMEOUT: 'A handler did not finish within its timeout.',
  CF_HANDLER_FAILED: 'A handler threw a value that is not an error.',
  CF_HANDLER_UNCAUGHT: 'An error was thrown outside of any awaited call, most likely by a handler.',
  CF_WRITE_FAILED: 'An event could not be written to a file or to standard output.',
  CF_DATABASE_FAILED: 'PostgreSQL could not be reached, or rejected a record.',
  CF_DELIVERY_REFUSED: 'The endpoint of a webhook, message or email subscription did not accept the event.',
  CF_CONSUMER_REFUSED: 'A program that asks for events was refused: its token, its name, or what it asks for.',
  CF_ADDRESS_REFUSED:
    'The address of a webhook, message or email subscription is private, loopback, link-local or otherwise not allowed.',
  CF_LOOP_STALLED: 'A loop of the process did not respond and was started again.',
  CF_STOPPED: 'The Changefeed was stopped, and answers nothing any more.',
  CF_STOP_TIMEOUT: 'Something did not stop within the deadline.',
  CF_INTERNAL: 'A promise between two parts of Changefeed was broken: a bug worth reporting.',
} as const satisfies Record<string, string>;

/** The codes of errors: docs/errors.md. */
export type ErrorCode = keyof typeof ERROR_CODES;

export interface ErrorFacts {
  /** One sentence or two: what, where, what to do. */
  message: string;
  cause?: unknown;
  /** The words of the other side: a receiver, a database. They may quote a record; see `partsOf`. @defaultValue nothing */
  said?: string;
  /** Anything else worth a field in a log line: list, page, status … */
  [fact: string]: unknown;
}

/** Every error of this package: what, where and what to do, with a stable code. */
export class ChangefeedError extends Error {
  override readonly name = 'ChangefeedError';
  /** Stable: docs/errors.md lists them all. */
  readonly code: ErrorCode;
  /** The answer of the other side, shortened; it may have contents, so it is in no message. */
  readonly said: string;
  /** The facts in the message, as values. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, { message, cause, said = '', ...facts }: ErrorFacts) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.said = said;
    this.facts = facts;
  }
}

const USAGE: readonly ErrorCode[] = [
  'CF_CONFIG_INVALID',
  'CF_CONFIG_UNLOADABLE',
  'CF_USAGE',
  'CF_REDIS_MISSING',
  'CF_STATE_DIR',
  'CF_STATE_FORMAT',
];

/** 2 for usage and configuration errors, 1 for errors at run time. */
export function exitCodeOf(error: unknown): 1 | 2 {
  return error instanceof ChangefeedError && USAGE.includes(error.code) ? 2 : 1;
}

/** An error of the caller: on the command line, or of the program that uses the library. */
export function usage(message: string, cause?: unknown): ChangefeedError {
  return new ChangefeedError('CF_USAGE', { message, cause });
}

/** The message of an unknown thrown value, without its stack. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  if (error instanceof Error) return error.message === '' ? error.name : error.message;
  return typeof error === 'string' ? error : `something that is not an error was thrown (${describe(error)})`;
}

/** Why nothing was reached, in short: `ECONNREFUSED`. For certificates as a class, also what to do. */
export function reasonOfConnection(error: unknown): string {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const reason = code ?? (error instanceof Error ? error.name : messageOf(error));
  if (SPEAKS_HTTP.test(reason))
    return `${reason}: what answers there speaks no TLS; if it is an http server, write http:// in place of https://`;
  return CERTIFICATE.test(reason) ? `${reason}: its certificate is not accepted; ${EXTRA_CA}` : reason;
}

/** OpenSSL's names for an answer that is not TLS. */
const SPEAKS_HTTP = /ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)/;
/** Certificate errors as Node and OpenSSL name them: unknown authority, another name, expired. */
const CERTIFICATE = /CERT|_ISSUER|UNABLE_TO_VERIFY|CRL|HOSTNAME_MISMATCH/;
export const EXTRA_CA =
  'if an authority of your company issued it, set NODE_EXTRA_CA_CERTS to the file of that authority';

/** Describes a value by type and size, never by content: for messages about bad input. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object') return `an object with ${Object.keys(value).length} keys`;
  if (typeof value === 'string') return value === '' ? 'an empty string' : `a string of ${value.length} characters`;
  return `a ${typeof value}`;
}
