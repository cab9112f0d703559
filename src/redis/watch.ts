/**
 * Whether Redis can be used, as one value for the whole process.
 *
 *   away           no answer for 3 s: loops wait; running handlers continue
 *   refuses        it is full or a read-only replica: loops wait, and workers take no jobs
 *   may evict      not `noeviction`: no start; later, sweeps abort too, because an evicted record would appear as new
 *
 * Each is logged once when it begins and once when it ends; then work continues without a restart. Redis is asked every
 * 3 s, because a silent, full or evicting server does not report it by itself.
 */
import { EventEmitter, once } from 'node:events';
import type { Worker } from 'bullmq';
import { ChangefeedError, messageOf } from '../kit/errors.js';
import { isoTime, withinTime } from '../kit/clock.js';
import { Episode } from '../kit/episode.js';
import { filtered, type Log } from '../kit/log.js';
import { runLoop } from '../kit/loop.js';
import type { Redis } from './client.js';
import {
  Condition,
  evictionError,
  evicts,
  readEvictionPolicy,
  readRefusal,
  refusalIn,
  REFUSED,
  refusedError,
  type ConditionOptions,
  type Refusal,
} from './conditions.js';
import { classifyRedisError } from './errors.js';

export type RedisUse = Pick<RedisWatch, 'untilUsable' | 'onWritable'>;

export interface RedisWatchOptions extends ConditionOptions {
  /** Opens the connection for the queries; called when it is first needed. */
  connect: () => Redis;
  /** A key that does not exist. Writing an empty string to it changes nothing and shows refusals. */
  probeKey: string;
  allowEviction: boolean;
}

const INTERVAL_MS = 3_000;
/** Redis is away if a query is not answered within this time. */
const ANSWER_WITHIN_MS = 3_000;
/** Commands that fail in an outage are reported up to this long after its end. */
const ECHO_MS = 2_000;
/** How often it is asked while it is away. */
const AWAY_INTERVAL_MS = 200;
/** Accepted writes in a row after which a refusal is over: close to `maxmemory`, writes succeed and fail in turn. */
const ACCEPTED_TO_END = 2;
/** Longer than processes take to report themselves. */
const JUST_BACK_MS = 30_000;
const EVICTION = {
  begins: 'Redis may evict keys: polling, dispatching and handling are paused',
  ends: 'Redis evicts no keys any more; work goes on',
};

export class RedisWatch {
  readonly #options: RedisWatchOptions;
  readonly #stopping = new AbortController();
  readonly #away: Episode;
  readonly #refusal: Condition;
  readonly #eviction: Condition;
  #accepted = 0;
  readonly #events = new EventEmitter().setMaxListeners(0);
  #feltMs = Number.NEGATIVE_INFINITY;
  #troubledMs = Number.NEGATIVE_INFINITY;
  #connection: Redis | undefined;
  #query: Promise<void> | undefined;
  #starting: Promise<void> | undefined;
  #watching: Promise<void> | undefined;

  constructor(options: RedisWatchOptions) {
    const { place, log, clock } = options;
    this.#options = options;
    this.#away = new Episode({ begins: 'Redis went away', ends: 'Redis is back', facts: { redis: place }, log, clock });
    this.#refusal = new Condition(options);
    this.#eviction = new Condition(options);
  }

  /** Checks the policy, then watches until `stop`. @throws ChangefeedError CF_REDIS_EVICTS, CF_REDIS_UNREACHABLE */
  start(): Promise<void> {
    return (this.#starting ??= this.#start());
  }

  async stop(): Promise<void> {
    this.close();
    await this.#watching;
  }

  /** From here on, lost connections are not logged. */
  close(): void {
    this.#stopping.abort(new Error('The watch of Redis is stopping.'));
  }

  refusal(): ChangefeedError | null {
    return this.#eviction.error ?? this.#refusal.error;
  }

  /** It can be used, and could not be some time ago: what processes report through it is not complete yet. */
  get isJustBack(): boolean {
    return this.#options.clock.monotonic() - this.#troubledMs < JUST_BACK_MS;
  }

  trouble(): 'away' | 'refuses' | 'evicts' | null {
    if (this.#away.holds) return 'away';
    if (this.#eviction.error !== null) return 'evicts';
    return this.#refusal.error === null ? null : 'refuses';
  }

  /** Aborts when Redis begins to evict keys. Read it at the beginning of each piece of work. */
  get evicting(): AbortSignal {
    return this.#eviction.signal;
  }

  async untilUsable(signal: AbortSignal): Promise<void> {
    while (this.trouble() !== null && !signal.aborted) {
      await once(this.#events, 'observed', { signal }).catch(() => undefined);
    }
  }

  /** `false` when writes become impossible (at once if they are), then `true`. @returns removes the listener */
  onWritable(listener: (isWritable: boolean) => void): () => void {
    let wasWritable = true;
    const observe = (): void => {
      const isWritable = this.refusal() === null;
      if (isWritable === wasWritable) return;
      wasWritable = isWritable;
      listener(isWritable);
    };
    observe();
    this.#events.on('observed', observe);
    return () => this.#events.off('observed', observe);
  }

  /** A connection has failed. Commands that fail because of it are no news: if it lasts, the watch reports it. */
  felt(): void {
    this.#feltMs = this.#options.clock.monotonic();
  }

  /** A log for code that uses Redis: failures that the watch reports in its own lines go to the debug level. */
  quieted(log: Log): Log {
    return filtered(log, (level, facts) => {
      const { error, code } = facts as { error?: unknown; code?: unknown };
      const isFailure = level !== 'debug' && (error !== undefined || code !== undefined);
      return isFailure && this.#isReported({ error, code, isOver: level === 'info' }) ? 'debug' : level;
    });
  }

  /** `isOver`: the failure is reported as over. */
  #isReported({ error, code, isOver }: { error: unknown; code: unknown; isOver: boolean }): boolean {
    if (code === 'CF_REDIS_EVICTS' || code === 'CF_REDIS_REFUSES') return true;
    const kind = classifyRedisError(error, this.#options.place);
    if (kind === 'other') return false;
    if (isOver) return true;
    const refusal = refusalIn(error);
    if (kind === 'not permitted' && refusal === null) return false;
    if (refusal === null) return this.#away.holds || this.#options.clock.monotonic() - this.#feltMs < ECHO_MS;
    // Close to `maxmemory`, the watch's own writes may all succeed.
    this.#refused(refusal);
    this.#events.emit('observed');
    return true;
  }

  async #start(): Promise<void> {
    const { log, clock, place } = this.#options;
    const policy = await readEvictionPolicy(this.#connect()).catch((error: unknown) => {
      throw unusable(place, error);
    });
    this.#checkPolicy(policy);
    const run = (signal: AbortSignal): Promise<number> => this.#turn(signal);
    this.#watching = runLoop({ name: 'watch of Redis', run, signal: this.#stopping.signal, log, clock });
  }

  /** At the start, a policy that evicts is an error of the configuration. */
  #checkPolicy(policy: string | null): void {
    const { log, place, allowEviction } = this.#options;
    const message =
      policy === null
        ? 'the eviction policy of Redis may not be read: make sure that it is noeviction'
        : 'Redis may evict keys, which redis.allowEviction allows: state may be lost';
    if (evicts(policy) && !allowEviction) throw evictionError(place, policy);
    if (policy === null || evicts(policy)) log.warn({ redis: place, found: policy }, message);
  }

  async #turn(signal: AbortSignal): Promise<number> {
    const { clock } = this.#options;
    const askedMs = clock.monotonic();
    // A query that is late is not repeated: the next turn waits for the same one.
    this.#query ??= this.#queryRedis().finally(() => (this.#query = undefined));
    const answer = this.#query.then(() => null, messageOf);
    const error = await withinTime(answer, ANSWER_WITHIN_MS, { clock, signal });
    if (signal.aborted) return 0;
    if (error !== null) this.felt();
    if (error === null) this.#away.over();
    else {
      const agoMs = clock.monotonic() - askedMs;
      const since = isoTime(clock.now() - agoMs);
      this.#away.failed({ since, error: error === 'late' ? 'no answer' : error }, { agoMs });
    }
    if (this.trouble() !== null) this.#troubledMs = clock.monotonic();
    this.#events.emit('observed');
    return error === null ? INTERVAL_MS : AWAY_INTERVAL_MS;
  }

  /** @throws if Redis is away or is loading its data */
  async #queryRedis(): Promise<void> {
    const redis = this.#connect();
    const [policy, refused] = await Promise.allSettled([
      readEvictionPolicy(redis),
      readRefusal(redis, this.#options.probeKey),
    ]);
    if (policy.status === 'fulfilled') this.#found(policy.value);
    if (refused.status === 'rejected') throw refused.reason;
    this.#refused(refused.value);
  }

  #refused(refusal: Refusal | null): void {
    this.#accepted = refusal === null ? this.#accepted + 1 : 0;
    if (refusal !== null) {
      const { place } = this.#options;
      const { kind, command } = refusal;
      this.#refusal.holds(refusedError(place, refusal), REFUSED[kind], command === null ? {} : { command });
    } else if (this.#accepted >= ACCEPTED_TO_END) this.#refusal.over();
  }

  /** @param policy null if it may not be read */
  #found(policy: string | null): void {
    const { place, allowEviction } = this.#options;
    if (policy === null || allowEviction) return;
    if (!evicts(policy)) {
      this.#eviction.over();
      return;
    }
    const error = evictionError(place, policy);
    this.#eviction.holds(error, EVICTION, { found: policy, error: error.message });
  }

  #connect(): Redis {
    return (this.#connection ??= this.#options.connect());
  }
}

/** While Redis refuses writes, a BullMQ worker would take jobs as fast as they fail; so it pauses. */
export function pauseWhileUnwritable(worker: Worker, watch: RedisUse): void {
  const stop = watch.onWritable((isWritable) => {
    // `true`: does not wait for running jobs. Both calls affect this process only and do not query Redis.
    void (isWritable ? worker.resume() : worker.pause(true));
  });
  worker.once('closing', stop);
}

function unusable(place: string, cause: unknown): ChangefeedError {
  return new ChangefeedError('CF_REDIS_UNREACHABLE', {
    cause,
    message: `Redis at ${place} cannot be used (${messageOf(cause)}). Check that server, or correct REDIS_URL.`,
  });
}
