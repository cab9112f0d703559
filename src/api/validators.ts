/**
 * What a server says about the version of a page (RFC 9110): an ETag, or the time of the last change. Only strong ones are kept: a weak
 * ETag may stay although bytes change, and so may a time within the last minute.
 */

export interface Validators {
  readonly etag?: string;
  readonly lastModified?: string;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const SETTLED_MS = 60_000;

/** Null when the answer has none. */
export function validatorsOf(headers: Headers): Validators | null {
  const { etag, 'last-modified': lastModified, date } = headers;
  if (typeof etag === 'string') return /^"[^"]*"$/u.test(etag) ? { etag } : null;
  if (typeof lastModified !== 'string' || typeof date !== 'string') return null;
  return Date.parse(date) - Date.parse(lastModified) >= SETTLED_MS ? { lastModified } : null;
}

/** The headers that ask for the page only if it is another version. */
export function conditionalHeaders({ etag, lastModified }: Validators): Record<string, string> {
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
  };
}

export function isSameVersion(one: Validators, other: Validators): boolean {
  return one.etag === other.etag && one.lastModified === other.lastModified;
}
