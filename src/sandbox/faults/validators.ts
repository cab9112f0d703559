/** ETag and Last-Modified, and the 304 for a client that has the page already. */
import type { Answer, Layer, ReadRequest } from '../../server/read-api/answer.js';
import { digestOf, isNamed } from '../../server/read-api/etag.js';
import type { Behaviour } from './behaviour.js';

/** What a path was answered last, and since when. */
interface Seen {
  readonly digest: string;
  /** Whole seconds, as in the header. */
  readonly since: number;
}

// Enough for every page of a large list.
const KEPT = 100_000;

/** The innermost layer: what other layers do to an answer does not change its validators. */
export function validated(behaviour: () => Behaviour, now: () => number): Layer {
  const seen = new Map<string, Seen>();
  return (next) => async (request) => {
    const answer = await next(request);
    const { validators } = behaviour();
    if (validators === 'none' || answer.status !== 200 || request.list === null) return answer;
    const lies = validators === 'etag-by-stamp';
    const digest = lies ? digestOfStamps(answer.body) : digestOf(answer.body);
    const since = sinceOf(seen, request, { digest, now: now() });
    const headers: Record<string, string> = {
      ...(validators !== 'last-modified' && { etag: `"${digest}"` }),
      ...((validators === 'last-modified' || validators === 'both') && {
        'last-modified': new Date(since * 1_000).toUTCString(),
      }),
    };
    if (!isKnown(request, headers)) return { ...answer, headers: { ...answer.headers, ...headers } };
    return notModified(answer, { headers, isTrue: !lies });
  };
}

/** Ids and change stamps only: a counter that changes without its stamp keeps the ETag. */
function digestOfStamps(body: Buffer): string {
  const { data } = JSON.parse(body.toString()) as { data: Record<string, unknown> };
  const records = Object.values(data).find(Array.isArray) as Record<string, unknown>[] | undefined;
  const stamps = (records ?? []).map((record) => [record['id'], record['수정 날짜'] ?? record['updatedAt']]);
  return digestOf(JSON.stringify([stamps, data['nextCursor']]));
}

/** Later than the last one even if both changes are within one second: the header has no fractions. */
function sinceOf(
  seen: Map<string, Seen>,
  { path, parameters }: ReadRequest,
  { digest, now }: { digest: string; now: number },
): number {
  const key = `${path}?${parameters['cursor'] ?? ''}`;
  const last = seen.get(key);
  if (last?.digest === digest) return last.since;
  const since = Math.max(Math.floor(now / 1_000), (last?.since ?? 0) + 1);
  seen.delete(key);
  seen.set(key, { digest, since });
  if (seen.size > KEPT) seen.delete(seen.keys().next().value ?? '');
  return since;
}

/** As RFC 9110 says: `If-None-Match` decides where both are given. */
function isKnown(request: ReadRequest, headers: Readonly<Record<string, string>>): boolean {
  const { etag, 'last-modified': modified } = headers;
  const { ifNoneMatch, ifModifiedSince } = request;
  if (etag !== undefined && ifNoneMatch !== undefined) return isNamed(request, etag);
  if (modified === undefined || ifModifiedSince === undefined) return false;
  return Date.parse(modified) <= Date.parse(ifModifiedSince);
}

/** The client has the page, so its records count as visible; but not if the validator is untrue. */
function notModified(
  { delivered, delivery }: Answer,
  { headers, isTrue }: { headers: Readonly<Record<string, string>>; isTrue: boolean },
): Answer {
  const answer = { status: 304, headers, body: Buffer.alloc(0), delivery };
  return isTrue && delivered !== undefined ? { ...answer, delivered } : answer;
}
