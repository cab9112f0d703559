/** Checks whether the Redis at a URL can be used. Messages never contain the password. */
import { Redis } from 'ioredis';
import { ChangefeedError, describe, messageOf } from '../errors.js';
import { withinTime } from '../runtime/clock.js';

const REFUSALS =
  /WRONGPASS|NOAUTH|NOPERM|invalid password|invalid username|without any password|DB index|SELECT is not/i;
const ABSENCES = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ECONNRESET|Connection is closed/;

interface ProbeOptions {
  /** The time to wait, including the time in which Redis loads its data; ms. @defaultValue 10000 */
  timeoutMs?: number;
  /** A server that accepts us without checking the password is refused. @defaultValue false */
  mustKnowPassword?: boolean;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
}

/**
 * Connects, selects the database, and waits for the answer to PING. Returns what failed; null if Redis can be used.
 * @throws the signal's reason when aborted
 */
export async function probeRedis(
  url: string,
  { timeoutMs = 10_000, mustKnowPassword = false, signal }: ProbeOptions = {},
): Promise<Error | null> {
  const { database, address, password } = parseRedisUrl(url);
  const redis = new Redis(address, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: timeoutMs,
    maxLoadingRetryTime: timeoutMs,
  });
  let problem: Error | undefined;
  redis.on('error', (error: Error) => (problem = error));
  const greet = async (): Promise<null> => {
    await redis.connect();
    // ioredis ignores the error of a server without a password; an explicit AUTH reports it.
    if (mustKnowPassword && password !== undefined) await redis.auth(password);
    if (database !== 0) await redis.select(database);
    await redis.ping();
    return null;
  };
  try {
    const answer = greet().catch((error: unknown) => problem ?? (error as Error));
    const result = await withinTime(answer, timeoutMs, signal && { signal });
    signal?.throwIfAborted();
    return result === 'late' ? (problem ?? new Error(`no answer in ${timeoutMs} ms`)) : result;
  } finally {
    redis.disconnect();
  }
}

/**
 * @throws ChangefeedError CF_REDIS_UNREACHABLE with host, port, reason and what to do; CF_CONFIG_INVALID if the URL is
 *   not valid; the signal's reason when aborted
 */
export async function checkRedis(url: string, { signal }: Pick<ProbeOptions, 'signal'> = {}): Promise<void> {
  const cause = await probeRedis(url, { signal });
  if (cause === null) return;
  throw new ChangefeedError('CF_REDIS_UNREACHABLE', { message: complaint(parseRedisUrl(url), cause), cause });
}

interface RedisAddress {
  /** `host:port`, for messages. */
  place: string;
  password: string | undefined;
  database: number;
  /** The URL without its database. The probe selects the database itself: ioredis would hide a refusal. */
  address: string;
}

/** @throws ChangefeedError CF_CONFIG_INVALID */
export function parseRedisUrl(url: string): RedisAddress {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isRedis = parsed !== undefined && ['redis:', 'rediss:'].includes(parsed.protocol) && parsed.hostname !== '';
  const path = parsed?.pathname.replace(/^\//, '') ?? '';
  if (!isRedis || !/^\d*$/.test(path)) {
    throw new ChangefeedError('CF_CONFIG_INVALID', {
      message:
        `The Redis URL (REDIS_URL, or "redis" in the configuration) must look like redis://:password@host:6379/0 ` +
        `or rediss://…; found ${describe(url)}${isRedis ? ` whose database "${path}" is not a number` : ''}.`,
    });
  }
  const place = `${parsed.hostname}:${parsed.port === '' ? '6379' : parsed.port}`;
  const password = parsed.password === '' ? undefined : decodeURIComponent(parsed.password);
  parsed.pathname = '';
  return { place, password, database: Number(path), address: parsed.href };
}

function complaint({ place, password, database }: RedisAddress, cause: Error): string {
  const where = 'in REDIS_URL (or "redis" in the configuration)';
  const reason = messageOf(cause);
  const text = `${reason} ${'code' in cause ? String(cause.code) : ''}`;
  if (/DB index|SELECT is not/i.test(text))
    return `Redis at ${place} has no database ${database}. Use another database ${where}.`;
  if (/NOAUTH/.test(text))
    return `Redis at ${place} asks for a password. Put it ${where}: redis://:password@${place}/0.`;
  if (REFUSALS.test(text))
    return `Redis at ${place} refused ${password !== undefined ? 'the user or password' : 'the connection'} (${reason}). Correct it ${where}.`;
  if (ABSENCES.test(text))
    return `Redis at ${place} cannot be reached (${reason}). Start it, or correct the address ${where}.`;
  return `Redis at ${place} gives no usable answer (${reason}). Check that server, or correct the address ${where}.`;
}
