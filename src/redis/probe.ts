/** Checks whether the Redis at a URL can be used. Messages never contain the password. */
import { Redis } from 'ioredis';
import { ChangefeedError, describe, messageOf } from '../errors.js';
import { withinTime } from '../runtime/clock.js';

export type ProbeResult =
  | { outcome: 'ready' }
  /** No server listens there. */
  | { outcome: 'absent'; cause: unknown }
  /** A server answers and rejects the user, the password or the database. */
  | { outcome: 'refused'; cause: unknown }
  /** A server accepts the connection and does not answer in time. */
  | { outcome: 'silent'; cause: unknown };

const REFUSALS =
  /WRONGPASS|NOAUTH|NOPERM|invalid password|invalid username|without any password|DB index|SELECT is not/i;
const ABSENCES = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ECONNRESET|Connection is closed/;

interface ProbeOptions {
  /** The time to wait, including the time in which Redis loads its data; ms. @defaultValue 10000 */
  timeoutMs?: number;
  /** A server that accepts us without checking the password counts as `refused`. @defaultValue false */
  mustKnowPassword?: boolean;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
}

/**
 * Connects, selects the database, and waits for the answer to PING.
 * @throws the signal's reason when aborted
 */
export async function probeRedis(
  url: string,
  { timeoutMs = 10_000, mustKnowPassword = false, signal }: ProbeOptions = {},
): Promise<ProbeResult> {
  const { database, address, password } = parseRedisUrl(url);
  const redis = new Redis(address, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: timeoutMs,
    maxLoadingRetryTime: timeoutMs,
  });
  const problems: unknown[] = [];
  redis.on('error', (error) => problems.push(error));
  const answer = greet(redis, { database, password: mustKnowPassword ? password : undefined }).catch((error: unknown) =>
    classify(problems.at(-1) ?? error),
  );
  try {
    const result = await withinTime(answer, timeoutMs, signal && { signal });
    signal?.throwIfAborted();
    if (result !== 'late') return result;
    return { outcome: 'silent', cause: problems.at(-1) ?? new Error(`no answer in ${timeoutMs} ms`) };
  } finally {
    redis.disconnect();
  }
}

/**
 * @throws ChangefeedError CF_REDIS_UNREACHABLE with host, port, reason and what to do; CF_CONFIG_INVALID if the URL is
 *   not valid; the signal's reason when aborted
 */
export async function checkRedis(url: string, { signal }: Pick<ProbeOptions, 'signal'> = {}): Promise<void> {
  const result = await probeRedis(url, { signal });
  if (result.outcome === 'ready') return;
  const { cause } = result;
  throw new ChangefeedError('CF_REDIS_UNREACHABLE', {
    message: complaint(url, result.outcome, messageOf(cause)),
    cause,
  });
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

interface Greeting {
  database: number;
  password: string | undefined;
}

async function greet(redis: Redis, { database, password }: Greeting): Promise<ProbeResult> {
  await redis.connect();
  // ioredis ignores the error of a server without a password; an explicit AUTH reports it.
  if (password !== undefined) await redis.auth(password);
  if (database !== 0) await redis.select(database);
  await redis.ping();
  return { outcome: 'ready' };
}

function classify(cause: unknown): ProbeResult {
  const text = `${messageOf(cause)} ${cause instanceof Error && 'code' in cause ? String(cause.code) : ''}`;
  if (REFUSALS.test(text)) return { outcome: 'refused', cause };
  return ABSENCES.test(text) ? { outcome: 'absent', cause } : { outcome: 'silent', cause };
}

function complaint(url: string, outcome: 'absent' | 'refused' | 'silent', reason: string): string {
  const { place, password, database } = parseRedisUrl(url);
  const where = 'in REDIS_URL (or "redis" in the configuration)';
  if (outcome === 'absent')
    return `Redis at ${place} cannot be reached (${reason}). Start it, or correct the address ${where}.`;
  if (outcome === 'silent')
    return `Redis at ${place} gives no usable answer (${reason}). Check that server, or correct the address ${where}.`;
  if (/DB index|SELECT is not/i.test(reason))
    return `Redis at ${place} has no database ${database}. Use another database ${where}.`;
  if (/NOAUTH/.test(reason))
    return `Redis at ${place} asks for a password. Put it ${where}: redis://:password@${place}/0.`;
  return `Redis at ${place} refused ${password !== undefined ? 'the user or password' : 'the connection'} (${reason}). Correct it ${where}.`;
}
