/**
 * The conditions in which Redis answers and cannot be used: it refuses writes, or it may evict keys. Each is logged once when it begins and
 * once when it ends, with its duration.
 */
import type { Redis } from 'ioredis';
import { ChangefeedError, messageOf } from '../errors.js';
import type { Clock } from '../runtime/clock.js';
import { Episode } from '../runtime/episode.js';
import type { Log } from '../runtime/log.js';
import { classifyRedisError } from './errors.js';

export interface ConditionOptions {
  /** `host:port`. Never the URL, which contains the password. */
  place: string;
  log: Log;
  clock: Clock;
}

type Refused = 'out of memory' | 'read-only';

const REFUSED = {
  'out of memory': {
    begins: 'Redis is out of memory and refuses writes: polling, dispatching and handling are paused',
    ends: 'Redis has memory again; work goes on',
    error: 'maxmemory is reached. Free memory or raise maxmemory',
  },
  'read-only': {
    begins: 'Redis is a read-only replica and refuses writes: polling, dispatching and handling are paused',
    ends: 'Redis takes writes again; work goes on',
    error: 'it is a read-only replica. Wait for the failover to end, or set REDIS_URL to the primary',
  },
} as const satisfies Record<Refused, object>;

/** Accepted writes in a row after which the condition ends: close to `maxmemory`, writes succeed and fail in turn. */
const ACCEPTED_TO_END = 2;

/** Redis answers and refuses writes. */
export class Refusal {
  readonly #options: ConditionOptions;
  #now: { episode: Episode; error: ChangefeedError } | undefined;
  #accepted = 0;

  constructor(options: ConditionOptions) {
    this.#options = options;
  }

  get error(): ChangefeedError | null {
    return this.#now?.error ?? null;
  }

  refused(kind: Refused): void {
    this.#accepted = 0;
    if (this.#now !== undefined) return;
    const { place, log, clock } = this.#options;
    const error = refusedError(place, kind);
    const episode = new Episode({ ...REFUSED[kind], facts: { redis: place }, log, clock });
    this.#now = { episode, error };
    episode.failed({ code: error.code });
  }

  accepted(): void {
    this.#accepted += 1;
    if (this.#accepted < ACCEPTED_TO_END) return;
    this.#now?.episode.over();
    this.#now = undefined;
  }
}

function refusedError(place: string, kind: Refused): ChangefeedError {
  return new ChangefeedError('CF_REDIS_REFUSES', {
    message: `Redis at ${place} refuses writes: ${REFUSED[kind].error}; then work goes on without a restart.`,
  });
}

const SAFE_POLICY = 'noeviction';

/** Every other policy evicts keys, also `volatile-*`: leases, the request budget and BullMQ's locks are keys that expire. */
export function evicts(policy: string | null): policy is string {
  return policy !== null && policy !== SAFE_POLICY;
}

/**
 * The value of `maxmemory-policy`; null if neither INFO nor CONFIG is permitted. INFO first: managed services that forbid
 * CONFIG permit it.
 * @throws the error of Redis, unless it says that the command is not permitted
 */
export async function readEvictionPolicy(redis: Redis): Promise<string | null> {
  const info = await unlessForbidden(redis.info('memory'));
  const shown = /^maxmemory_policy:([\w-]+)/m.exec(info ?? '')?.[1];
  if (shown !== undefined) return shown;
  const answer = await unlessForbidden(redis.config('GET', 'maxmemory-policy'));
  const value: unknown = Array.isArray(answer) ? answer[1] : undefined;
  return typeof value === 'string' ? value : null;
}

export async function unlessForbidden<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (classifyRedisError(error) !== 'other' || !/NOPERM|unknown command/i.test(messageOf(error))) throw error;
    return null;
  }
}

/** Redis is configured to evict keys when its memory is full. The parts of the state depend on each other, so none may be lost. */
export class Eviction {
  readonly #place: string;
  readonly #episode: Episode;
  #controller = new AbortController();

  constructor({ place, log, clock }: ConditionOptions) {
    this.#place = place;
    this.#episode = new Episode({
      begins: 'Redis may evict keys: polling, dispatching and handling are paused',
      ends: 'Redis evicts no keys any more; work goes on',
      facts: { redis: place },
      log,
      clock,
    });
  }

  get error(): ChangefeedError | null {
    return this.signal.aborted ? (this.signal.reason as ChangefeedError) : null;
  }

  /** Aborts when the condition begins. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** @param policy null if it may not be read */
  found(policy: string | null): void {
    if (policy === null || evicts(policy) === this.signal.aborted) return;
    if (evicts(policy)) {
      const error = evictionError(this.#place, policy);
      this.#controller.abort(error);
      this.#episode.failed({ code: error.code, found: policy, error: error.message });
    } else {
      this.#controller = new AbortController();
      this.#episode.over();
    }
  }
}

export function evictionError(place: string, policy: string): ChangefeedError {
  return new ChangefeedError('CF_REDIS_EVICTS', {
    found: policy,
    message:
      `Redis at ${place} has maxmemory-policy "${policy}" and may evict keys, which loses records and invents events. ` +
      `Set it to ${SAFE_POLICY}: CONFIG SET maxmemory-policy ${SAFE_POLICY}, and the line "maxmemory-policy ${SAFE_POLICY}" in redis.conf. ` +
      `If state may be lost, allow it in the configuration: redis: { allowEviction: true }.`,
  });
}
