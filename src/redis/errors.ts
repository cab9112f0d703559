/** An error's meaning for Redis itself, so that one outage is reported once, not for every failed command. */
import { ChangefeedError, messageOf } from '../kit/errors.js';

/** `cannot save`: it cannot write its snapshot or append-only file. `not permitted`: its user lacks a right. `read-only`: a replica, as after a failover. `loading`: reads its data, waits for others, or runs a slow script. */
export type RedisErrorKind =
  'lost' | 'out of memory' | 'cannot save' | 'read-only' | 'not permitted' | 'loading' | 'other';

/** Answers of Redis and Valkey. In the error of a script they are in the middle of the text. */
const REPLIES: readonly (readonly [RegExp, RedisErrorKind])[] = [
  [/\bOOM command not allowed/, 'out of memory'],
  [/\bMISCONF /, 'cannot save'],
  [/\bNOPERM |\bACL failure in script\b|\bThe user executing the script can't run\b/, 'not permitted'],
  [/\bREADONLY You can't write/, 'read-only'],
  [/\bLOADING \w+ is loading|\bMASTERDOWN Link with MASTER|\bBUSY \w+ is busy running a script/, 'loading'],
  [/\bNOREPLICAS Not enough good replicas|\bCLUSTERDOWN |\bTRYAGAIN /, 'loading'],
  // A restart or a failover forgets scripts and ends blocking reads. The next call of a script sends it whole.
  [/\bNOSCRIPT No matching script|\bUNBLOCKED force unblock/, 'lost'],
];

/** Messages of the client and of its socket about a command that was not answered. */
const CLIENT =
  /\bConnection is closed\b|\bCommand timed out\b|\bmax retries per request limit\b|\bCommand aborted due to connection close\b|\bSocket timeout\. Expecting data\b|\bStream isn't writeable\b|\bThis socket has been ended by the other party\b|\bCannot call write after a stream was destroyed\b|\bwrite after end\b|\bsocket disconnected before secure TLS connection was established\b|\bFailed to refresh slots cache\b|\bNone of startup nodes is available\b|\bToo many Cluster redirections\b|\bCluster is (?:ended|disconnect)|\bAll sentinels are unreachable\b/;

/** Messages of the operating system; after `connect` and `getaddrinfo` they contain the address. */
const SOCKET =
  /\b(?:connect|read|write|getaddrinfo) (?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENETRESET|ENOTCONN|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN)\b(?: ([^\s;)]+))?/;

/** The answer to EXEC names no reason. The errors of the commands before it are in a property of the error. */
const DISCARDED = /\bEXECABORT Transaction discarded\b/;

/** Reads the message, as another error may wrap this one. @param place a refusal by another address does not count */
export function classifyRedisError(error: unknown, place?: string): RedisErrorKind {
  const text = messageOf(error);
  const reply = REPLIES.find(([pattern]) => pattern.test(text));
  if (reply !== undefined) return reply[1];
  if (CLIENT.test(text)) return 'lost';
  if (DISCARDED.test(text)) return classifyDiscarded(error, place);
  const socket = SOCKET.exec(text);
  if (socket === null) return 'other';
  const address = socket[1];
  return address === undefined || (place?.split(', ').some((one) => isSamePlace(address, one)) ?? true)
    ? 'lost'
    : 'other';
}

function classifyDiscarded(error: unknown, place?: string): RedisErrorKind {
  const { previousErrors } = error as { previousErrors?: unknown };
  if (!Array.isArray(previousErrors)) return 'other';
  const kinds = previousErrors.map((one: unknown) => classifyRedisError(one, place));
  return kinds.find((kind) => kind !== 'other') ?? 'other';
}

/** The host name is resolved at this point, so only the port can be compared. A name that was not found has no port. */
function isSamePlace(address: string, place: string): boolean {
  const port = /:(\d+)[.,]?$/.exec(address)?.[1];
  return port === undefined ? place.startsWith(`${address}:`) : place.endsWith(`:${port}`);
}

/** Someone else wrote the key. @param keys of the command; BullMQ's give a prefix. @returns CF_STATE_UNREADABLE */
export function wrongType(keys: readonly string[]): ChangefeedError {
  const shown = keys.map((key) => `"${key.replace(/:$/, ':*')}"`).join(', ');
  return new ChangefeedError('CF_STATE_UNREADABLE', {
    keys,
    message: `${keys.length === 1 ? 'Redis key' : 'One of the Redis keys'} ${shown} has another type than expected: another program or a person has written it. TYPE shows the type of a key, RENAME moves it away; then the feed goes on as if the value had been lost (docs/redis.md says what that means).`,
  });
}
