/** What an error says about Redis itself, so that one outage is reported once and not for every command that fails in it. */
import { messageOf } from '../errors.js';

/**
 * `lost`: the connection broke, or there was no answer in time. `out of memory`: `maxmemory` is reached and nothing may
 * be evicted. `read-only`: the server is a replica, as after a failover. `loading`: it reads its data from disk. `other`: all
 * other errors.
 */
export type RedisErrorKind = 'lost' | 'out of memory' | 'read-only' | 'loading' | 'other';

const REPLIES: readonly (readonly [RegExp, RedisErrorKind])[] = [
  [/\bOOM command not allowed/, 'out of memory'],
  [/\bREADONLY You can't write/, 'read-only'],
  [/\bLOADING Redis is loading|\bMASTERDOWN Link with MASTER/, 'loading'],
];

/** Messages of the client about a command that was not answered. */
const CLIENT =
  /\bConnection is closed\b|\bCommand timed out\b|\bmax retries per request limit\b|\bCommand aborted due to connection close\b|\bSocket timeout\. Expecting data\b|\bStream isn't writeable\b/;

/** Messages of the operating system; after `connect` and `getaddrinfo` they contain the address. */
const SOCKET =
  /\b(?:connect|read|write|getaddrinfo) (?:ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN)\b(?: ([^\s;)]+))?/;

/**
 * Reads the message, because it is still there when another error wraps this one.
 * @param place `host:port` of this Redis: a refused connection to another address does not count
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

/** The host name is resolved at this point, so only the port can be compared. A name that was not found has no port. */
function isSamePlace(address: string, place: string): boolean {
  const port = /:(\d+)[.,]?$/.exec(address)?.[1];
  return port === undefined ? place.startsWith(`${address}:`) : place.endsWith(`:${port}`);
}
