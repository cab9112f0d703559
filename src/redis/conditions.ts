/**
 * The conditions in which Redis cannot be used: it is away, it refuses writes, or it may evict keys. Each is logged once when it
 * begins and once when it ends, with its duration.
 */
import type { Redis } from 'ioredis';
import { ChangefeedError, messageOf } from '../errors.js';
import { isoTime, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { classifyRedisError } from './errors.js';

export interface ConditionOptions {
  /** `host:port`. Never the URL, which contains the password. */
  place: string;
  log: Log;
  clock: Clock;
  /** Called after each beginning and end. */
  onChange: () => void;
}

interface Beginning {
  message: string;
  facts: object;
  /** Why work cannot be done while the condition holds. */
  error?: ChangefeedError;
  sinceMs?: number;
}

class Condition {
  protected readonly options: ConditionOptions;
  #sinceMs: number | null = null;
  #error: ChangefeedError | null = null;

  constructor(options: ConditionOptions) {
    this.options = options;
  }

  get holds(): boolean {
    return this.#sinceMs !== null;
  }

  get error(): ChangefeedError | null {
    return this.#error;
  }

  protected begin({ message, facts, error, sinceMs = this.options.clock.now() }: Beginning): void {
    if (this.holds) return;
    const { place, log, onChange } = this.options;
    this.#sinceMs = sinceMs;
    this.#error = error ?? null;
    log.error({ redis: place, since: isoTime(sinceMs), ...facts }, message);
    onChange();
  }

  protected end(message: string, duration: 'awayMs' | 'refusedMs' | 'pausedMs'): void {
    if (this.#sinceMs === null) return;
    const { place, log, clock, onChange } = this.options;
    const facts = { redis: place, since: isoTime(this.#sinceMs), [duration]: clock.now() - this.#sinceMs };
    this.#sinceMs = null;
    this.#error = null;
    log.info(facts, message);
    onChange();
  }
}

/** A connection that is back within this time is not an outage. */
const BLIP_MS = 1_000;
/** Commands that fail in an outage are reported up to this long after its end. */
const ECHO_MS = 2_000;

/** Redis cannot be reached, or gives no answer. It begins only after `BLIP_MS`, unless Redis is silent. */
export class Absence extends Condition {
  readonly #closed = new AbortController();
  #missing: { sinceMs: number } | undefined;
  #lost = 0;
  #isSilent = false;
  #latestFailureMs = Number.NEGATIVE_INFINITY;
  #latestError: Error | undefined;

  /** True also during a blip, and for a moment after a failure or after the end: commands may fail because of it. */
  get isFelt(): boolean {
    return this.#missing !== undefined || this.options.clock.now() - this.#latestFailureMs < ECHO_MS;
  }

  connections({ lost, error }: { lost: number; error: Error | undefined }): void {
    if (error !== undefined) this.#latestFailureMs = this.options.clock.now();
    this.#lost = lost;
    this.#latestError = error ?? this.#latestError;
    this.#update();
  }

  answered(isAnswered: boolean): void {
    this.#isSilent = !isAnswered;
    this.#update();
  }

  /** Nothing is logged after this call. */
  close(): void {
    this.#closed.abort(new Error('The process is stopping.'));
  }

  #update(): void {
    const wasMissing = this.#missing !== undefined;
    if (this.#lost === 0 && !this.#isSilent) {
      if (wasMissing) this.#isBack();
      return;
    }
    this.#missing ??= { sinceMs: this.options.clock.now() };
    if (this.#isSilent) this.#goAway(this.#missing);
    else if (!wasMissing) void this.#goAwayUnlessBlip(this.#missing);
  }

  async #goAwayUnlessBlip(missing: { sinceMs: number }): Promise<void> {
    await this.options.clock.sleep(BLIP_MS, this.#closed.signal).catch(() => undefined);
    if (missing === this.#missing) this.#goAway(missing);
  }

  #goAway({ sinceMs }: { sinceMs: number }): void {
    if (this.#closed.signal.aborted) return;
    const error = this.#latestError === undefined ? 'no answer' : messageOf(this.#latestError);
    this.begin({ message: 'Redis went away', facts: { error }, sinceMs });
  }

  #isBack(): void {
    this.#missing = undefined;
    this.#latestError = undefined;
    this.#latestFailureMs = this.options.clock.now();
    if (!this.#closed.signal.aborted) this.end('Redis is back', 'awayMs');
  }
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
export class Refusal extends Condition {
  #kind: Refused = 'out of memory';
  #accepted = 0;

  refused(kind: Refused): void {
    this.#accepted = 0;
    if (this.holds) return;
    this.#kind = kind;
    const error = refusedError(this.options.place, kind);
    this.begin({ message: REFUSED[kind].begins, facts: { code: error.code }, error });
  }

  accepted(): void {
    this.#accepted += 1;
    if (this.#accepted >= ACCEPTED_TO_END) this.end(REFUSED[this.#kind].ends, 'refusedMs');
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
export class Eviction extends Condition {
  #controller = new AbortController();

  /** Aborts when the condition begins. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** @param policy null if it may not be read */
  found(policy: string | null): void {
    if (policy === null) return;
    if (evicts(policy)) {
      const error = evictionError(this.options.place, policy);
      this.#controller.abort(error);
      const message = 'Redis may evict keys: polling, dispatching and handling are paused';
      this.begin({ message, facts: { code: error.code, found: policy, error: error.message }, error });
    } else {
      if (this.#controller.signal.aborted) this.#controller = new AbortController();
      this.end('Redis evicts no keys any more; work goes on', 'pausedMs');
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
