/** Is there a Redis behind this URL that lets us in? Says so without ever repeating the password. */
import { Redis } from 'ioredis';
import { ChangefeedError, describe, messageOf } from '../errors.js';
import { systemClock } from './clock.js';

export type ProbeResult =
  | { outcome: 'ready' }
  /** Nothing listens there. */
  | { outcome: 'absent'; cause: unknown }
  /** Something answers, and refuses us: user, password or database. */
  | { outcome: 'refused'; cause: unknown }
  /** Something is there that does not answer in time. */
  | { outcome: 'silent'; cause: unknown };

const REFUSALS =
  /WRONGPASS|NOAUTH|NOPERM|invalid password|invalid username|without any password|DB index|SELECT is not/i;
const ABSENCES = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ECONNRESET|Connection is closed/;

export interface ProbeOptions {
  /** Waits this long, also while Redis loads its data, in ms. @defaultValue 10000 */
  timeoutMs?: number;
  /** Refused also means: the server lets us in without knowing our password. @defaultValue false */
  mustKnowPassword?: boolean;
}

/** Connects, selects the database, and waits for the answer to PING. */
export async function probeRedis(
  url: string,
  { timeoutMs = 10_000, mustKnowPassword = false }: ProbeOptions = {},
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
  const answered = new AbortController();
  const late = systemClock.sleep(timeoutMs, answered.signal).then(
    (): ProbeResult => ({ outcome: 'silent', cause: problems.at(-1) ?? new Error(`no answer in ${timeoutMs} ms`) }),
    (): ProbeResult => ({ outcome: 'ready' }),
  );
  const answer = greet(redis, { database, password: mustKnowPassword ? password : undefined }).catch((error: unknown) =>
    classify(problems.at(-1) ?? error),
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    answered.abort();
    redis.disconnect();
  }
}

/**
 * @throws ChangefeedError CF_REDIS_UNREACHABLE naming host and port, what was wrong, and what to do;
 *   CF_CONFIG_INVALID when the URL is none
 */
export async function checkRedis(url: string, options?: ProbeOptions): Promise<void> {
  const result = await probeRedis(url, options);
  if (result.outcome === 'ready') return;
  const { cause } = result;
  throw new ChangefeedError('CF_REDIS_UNREACHABLE', {
    message: complaint(url, result.outcome, messageOf(cause)),
    cause,
  });
}

interface RedisAddress {
  /** `host:port`, fit for messages. */
  place: string;
  password: string | undefined;
  database: number;
  /** The URL without its database, which is selected by hand so that a refusal is heard. */
  address: string;
}

/** @throws ChangefeedError CF_CONFIG_INVALID */
export function parseRedisUrl(url: string): RedisAddress {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const known = parsed !== undefined && ['redis:', 'rediss:'].includes(parsed.protocol) && parsed.hostname !== '';
  const path = parsed?.pathname.replace(/^\//, '') ?? '';
  if (!known || !/^\d*$/.test(path)) {
    throw new ChangefeedError('CF_CONFIG_INVALID', {
      message:
        `The Redis URL (REDIS_URL, or "redis" in the configuration) must look like redis://:password@host:6379/0 ` +
        `or rediss://…; found ${describe(url)}${known ? ` whose database "${path}" is not a number` : ''}.`,
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
  // The client shrugs at a server without a password; asked outright, such a server says no.
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

function complaint(url: string, outcome: 'absent' | 'refused' | 'silent', said: string): string {
  const { place, password, database } = parseRedisUrl(url);
  const mend = 'in REDIS_URL (or "redis" in the configuration)';
  if (outcome === 'absent')
    return `Redis at ${place} cannot be reached (${said}). Start it, or correct the address ${mend}.`;
  if (outcome === 'silent')
    return `Redis at ${place} gives no usable answer (${said}). Look after it, or correct the address ${mend}.`;
  if (/DB index|SELECT is not/i.test(said))
    return `Redis at ${place} has no database ${database}. Name another ${mend}.`;
  if (/NOAUTH/.test(said))
    return `Redis at ${place} asks for a password. Put it ${mend}: redis://:password@${place}/0.`;
  return `Redis at ${place} refused ${password !== undefined ? 'the user or password' : 'the connection'} (${said}). Correct it ${mend}.`;
}
