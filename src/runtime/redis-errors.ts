/** What an error says about Redis itself, so that one outage is reported once and not by every command that fails in it. */
import { messageOf } from '../errors.js';

/**
 * `lost`: the connection broke, or nothing was answered in time. `out of memory`: `maxmemory` is reached and nothing may
 * be evicted. `read-only`: a replica, as after a failover. `loading`: Redis reads its data from disk. `other`: anything else.
 */
export type RedisErrorKind = 'lost' | 'out of memory' | 'read-only' | 'loading' | 'other';

const REPLIES: readonly (readonly [RegExp, RedisErrorKind])[] = [
  [/\bOOM command not allowed/, 'out of memory'],
  [/\bREADONLY You can't write/, 'read-only'],
  [/\bLOADING Redis is loading|\bMASTERDOWN Link with MASTER/, 'loading'],
];

/** What the client says of a command that was not answered. */
const CLIENT =
  /\bConnection is closed\b|\bCommand timed out\b|\bmax retries per request limit\b|\bCommand aborted due to connection close\b|\bSocket timeout\. Expecting data\b|\bStream isn't writeable\b/;

/** What the operating system says; `connect` and `getaddrinfo` name the address. */
const SOCKET =
  /\b(?:connect|read|write|getaddrinfo) (?:ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN)\b(?: ([^\s;)]+))?/;

/**
 * Judges by the text, which survives being wrapped in another error's sentence.
 * @param place `host:port` of the Redis in question: a refused connection to another address is not about it
 */
export function classifyRedisError(error: unknown, place?: string): RedisErrorKind {
  const text = messageOf(error);
  const reply = REPLIES.find(([pattern]) => pattern.test(text));
  if (reply !== undefined) return reply[1];
  if (CLIENT.test(text)) return 'lost';
  const socket = SOCKET.exec(text);
  if (socket === null) return 'other';
  const address = socket[1];
  return address === undefined || place === undefined || isSamePlace(address, place) ? 'lost' : 'other';
}

/** The name of a host has become an address by then, so that only the port can be compared; a name that was not found has none. */
function isSamePlace(address: string, place: string): boolean {
  const port = /:(\d+)[.,]?$/.exec(address)?.[1];
  return port === undefined ? place.startsWith(`${address}:`) : place.endsWith(`:${port}`);
}
