/**
 * Whether Redis can be used, as one value for the whole process. Trouble is logged once when it begins and once when it
 * ends, however many commands fail in between; loops wait here until it is over. It asks Redis every few seconds, because
 * a server that is silent, full or set to evict keys does not say so by itself.
 */
import type { Redis } from 'ioredis';
import { ChangefeedError, messageOf } from '../errors.js';
import { answersWithin } from './answers-within.js';
import { isoTime, type Clock } from './clock.js';
import { readEvictionPolicy } from './eviction.js';
import type { Failure } from './explained-log.js';
import type { Log } from './log.js';
import { runLoop } from './loop.js';
import { Absence, Eviction, Refusal } from './redis-conditions.js';
import { classifyRedisError } from './redis-errors.js';

/** Plain data, for a status. Times are ISO 8601, null where the condition does not hold. */
export interface RedisState {
  /** Redis cannot be reached, or gives no answer. */
  awaySince: string | null;
  /** Redis refuses writes because `maxmemory` is reached. */
  outOfMemorySince: string | null;
  /** Redis refuses writes because it is a replica. */
  readOnlySince: string | null;
  /** The value of `maxmemory-policy`; null before it was read, or where it may not be read. */
  evictionPolicy: string | null;
}

/** What those who use Redis need of it. */
export type RedisUse = Pick<RedisWatch, 'refusal' | 'evicting' | 'untilUsable' | 'onWritable'>;

export interface RedisWatchOptions {
  /** `host:port`. */
  place: string;
  /** Opens the connection that asks; called when it is first needed. */
  connect: () => Redis;
  /** A key that does not exist: writing nothing to it shows whether Redis takes writes. */
  probeKey: string;
  allowEviction: boolean;
  log: Log;
  clock: Clock;
  /** How often Redis is asked, ms. @defaultValue 3000 */
  intervalMs?: number;
  /** Redis is away when it gives no answer for so long, ms. @defaultValue 3000 */
  answerWithinMs?: number;
}

const INTERVAL_MS = 3_000;
const ANSWER_WITHIN_MS = 3_000;

export class RedisWatch {
  readonly #options: RedisWatchOptions;
  readonly #stopping = new AbortController();
  readonly #absence: Absence;
  readonly #refusal: Refusal;
  readonly #eviction: Eviction;
  readonly #listeners = new Set<(isWritable: boolean) => void>();
  #wasWritable = true;
  #usable = new AbortController();
  #probe: Redis | undefined;
  #asking: Promise<void> | undefined;
  #starting: Promise<void> | undefined;
  #watching: Promise<void> | undefined;

  constructor(options: RedisWatchOptions) {
    this.#options = options;
    const condition = { ...options, onChange: () => this.#announce() };
    this.#absence = new Absence(condition);
    this.#refusal = new Refusal(condition);
    this.#eviction = new Eviction({ ...condition, isAllowed: options.allowEviction });
  }

  state(): RedisState {
    return {
      awaySince: timeOf(this.#absence.sinceMs),
      outOfMemorySince: timeOf(this.#refusal.sinceMs('out of memory')),
      readOnlySince: timeOf(this.#refusal.sinceMs('read-only')),
      evictionPolicy: this.#eviction.policy,
    };
  }

  /**
   * Checks the eviction policy, then watches until `stop`. Called again, it gives the same promise.
   * @throws ChangefeedError CF_REDIS_EVICTS, CF_REDIS_UNREACHABLE
   */
  start(): Promise<void> {
    return (this.#starting ??= this.#start());
  }

  async stop(): Promise<void> {
    this.close();
    await this.#watching;
  }

  /** Logs no more of what happens to the connections. */
  close(): void {
    this.#stopping.abort(new Error('The watch of Redis is stopping.'));
    this.#absence.close();
  }

  /** Why nothing must be written although Redis answers; null when it may be. */
  refusal(): ChangefeedError | null {
    return this.#eviction.error ?? this.#refusal.error;
  }

  /** Aborts when Redis begins to evict keys. Ask for it at the beginning of a piece of work. */
  get evicting(): AbortSignal {
    return this.#eviction.signal;
  }

  /** Resolves when Redis can be written to, or when the signal aborts. */
  async untilUsable(signal: AbortSignal): Promise<void> {
    while (!this.#isUsable() && !signal.aborted) {
      const either = AbortSignal.any([signal, this.#usable.signal]);
      await new Promise<void>((resolve) => either.addEventListener('abort', () => resolve(), { once: true }));
    }
  }

  /** Calls when writes become impossible or harmful (`false`), and when they are possible again (`true`); at once if they are impossible now. */
  onWritable(listener: (isWritable: boolean) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#wasWritable) listener(false);
    return () => this.#listeners.delete(listener);
  }

  connectionsChanged(state: { lost: number; error: Error | undefined }): void {
    this.#absence.connections(state);
  }

  /** True for a failure that follows from trouble which is logged already. */
  isExplained({ error, code, isOver }: Failure): boolean {
    if (code === 'CF_REDIS_EVICTS' || code === 'CF_REDIS_REFUSES') return true;
    const kind = classifyRedisError(error, this.#options.place);
    if (kind === 'other') return false;
    if (isOver) return true;
    if (kind !== 'out of memory' && kind !== 'read-only') return this.#absence.isFelt;
    this.#refusal.refused(kind);
    return true;
  }

  async #start(): Promise<void> {
    const { log, clock, place } = this.#options;
    const policy = await readEvictionPolicy(this.#connection()).catch((error: unknown) => {
      throw unreachable(place, error);
    });
    this.#eviction.check(policy);
    const run = (signal: AbortSignal): Promise<number> => this.#turn(signal);
    this.#watching = runLoop({ name: 'watch of Redis', run, signal: this.#stopping.signal, log, clock });
  }

  async #turn(signal: AbortSignal): Promise<number> {
    const { clock, intervalMs = INTERVAL_MS, answerWithinMs = ANSWER_WITHIN_MS } = this.#options;
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    const isAnswered = await answersWithin(this.#asking, answerWithinMs, { clock, signal });
    if (!signal.aborted) this.#absence.answered(isAnswered);
    return intervalMs;
  }

  async #ask(): Promise<void> {
    const redis = this.#connection();
    const [policy, write] = await Promise.allSettled([
      readEvictionPolicy(redis),
      redis.setrange(this.#options.probeKey, 0, ''),
    ]);
    if (policy.status === 'fulfilled') this.#eviction.found(policy.value);
    const kind = write.status === 'fulfilled' ? 'accepted' : classifyRedisError(write.reason);
    if (kind === 'out of memory' || kind === 'read-only') this.#refusal.refused(kind);
    // `other`: the key is not ours to write. Then refused writes are over when no more are heard of.
    else if (kind === 'accepted' || kind === 'other') this.#refusal.accepted();
    if (kind === 'lost' || kind === 'loading') throw new Error(kind);
  }

  #connection(): Redis {
    return (this.#probe ??= this.#options.connect());
  }

  #isUsable(): boolean {
    return this.refusal() === null && this.#absence.sinceMs === null;
  }

  #announce(): void {
    const isWritable = this.refusal() === null;
    if (isWritable !== this.#wasWritable) {
      this.#wasWritable = isWritable;
      for (const listener of this.#listeners) listener(isWritable);
    }
    if (!this.#isUsable()) return;
    const waiting = this.#usable;
    this.#usable = new AbortController();
    waiting.abort();
  }
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}

function unreachable(place: string, cause: unknown): ChangefeedError {
  return new ChangefeedError('CF_REDIS_UNREACHABLE', {
    cause,
    message: `Redis at ${place} cannot be used (${messageOf(cause)}).`,
  });
}
