/** Keeps tokens out of errors and logs, even if the server sends it back. */
import { ChangefeedError, describe } from '../../kit/errors.js';
import type { Log } from '../../kit/log.js';

export type Redact = (text: string) => string;

const HIDDEN = '[token]';
/** Cause chains are short. The limit ends a cyclic one. */
const MAX_DEPTH = 8;

export function createRedactor(...tokens: readonly string[]): Redact {
  const forms = tokens.flatMap((token) => [
    token,
    encodeURIComponent(token),
    JSON.stringify(token).slice(1, -1),
    base64(token),
  ]);
  // Longest first: a form that contains another must be matched whole.
  const pattern = [...new Set(forms)]
    .sort((a, b) => b.length - a.length)
    .map(escapeRegExp)
    .join('|');
  const secrets = forms.length === 0 ? null : new RegExp(pattern, 'gi');
  // The text after "Bearer" is hidden as well: a server may send back a part of the header.
  return (text) =>
    (secrets === null ? text : text.replace(secrets, HIDDEN)).replace(
      /\bbearer(\s+|%20|\+)[^\s"'<>,;]+/gi,
      `Bearer ${HIDDEN}`,
    );
}

/** Safe to show: code or name, message, stack and cause chain; other fields of foreign errors are dropped. */
export function redactError(error: unknown, redact: Redact, depth = 0): Error {
  if (depth >= MAX_DEPTH) return new Error('a cause too deep to show');
  if (!(error instanceof Error)) {
    return new Error(typeof error === 'string' ? redact(error) : `a thrown ${describe(error)}`);
  }
  const cause = error.cause === undefined ? undefined : redactError(error.cause, redact, depth + 1);
  const copy = error instanceof ChangefeedError ? copyOurs(error, redact, cause) : copyForeign(error, redact, cause);
  if (error.stack !== undefined) copy.stack = redact(error.stack);
  return copy;
}

function copyOurs(error: ChangefeedError, redact: Redact, cause: Error | undefined): Error {
  const facts = redactFacts(error.facts, redact) as Record<string, unknown>;
  return new ChangefeedError(error.code, { ...facts, message: redact(error.message), said: redact(error.said), cause });
}

// The parser error of undici, for example, has a field with the bytes it could not parse, which may be records.
function copyForeign(error: Error, redact: Redact, cause: Error | undefined): Error {
  const parts = error instanceof AggregateError && error.message === '' ? error.errors : [error];
  const message = parts.map((part: unknown) => (part instanceof Error ? part.message : describe(part))).join('; ');
  const copy = new Error(redact(message), cause === undefined ? undefined : { cause });
  copy.name = error.name;
  return 'code' in error && typeof error.code === 'string' ? Object.assign(copy, { code: redact(error.code) }) : copy;
}

/** Redacts all strings in `value`, keys included, and replaces errors by safe copies. */
export function redactFacts(value: unknown, redact: Redact, depth = 0): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return describe(value);
  if (value instanceof Error) return redactError(value, redact);
  if (Array.isArray(value)) return value.map((item) => redactFacts(item, redact, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [redact(key), redactFacts(item, redact, depth + 1)]),
  );
}

export function redactLog(log: Log, redact: Redact): Log {
  const safe = (facts: object): object => redactFacts(facts, redact) as object;
  return {
    debug: (facts, message) => log.debug(safe(facts), redact(message)),
    info: (facts, message) => log.info(safe(facts), redact(message)),
    warn: (facts, message) => log.warn(safe(facts), redact(message)),
    error: (facts, message) => log.error(safe(facts), redact(message)),
    child: (facts) => redactLog(log.child(safe(facts)), redact),
  };
}

function base64(text: string): string {
  // The padding is dropped, so that it also matches a longer text that starts with the token.
  return Buffer.from(text).toString('base64').replace(/=+$/, '');
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
