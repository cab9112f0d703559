/** The ways in which Redis can be unusable. Each is logged once when it begins and once when it ends, with how long it took. */
import { ChangefeedError, messageOf } from '../errors.js';
import { isoTime, type Clock } from './clock.js';
import { evictionError, evicts } from './eviction.js';
import type { Log } from './log.js';

export interface ConditionOptions {
  /** `host:port`; never the URL, which holds the password. */
  place: string;
  log: Log;
  clock: Clock;
  /** Called after each beginning and end. */
  onChange: () => void;
}

/** A connection that is back so soon is no outage. */
const BLIP_MS = 1_000;
/** Commands that failed in an outage are heard of a moment after its end. */
const ECHO_MS = 2_000;

/** Redis cannot be reached, or gives no answer. */
export class Absence {
  readonly #options: ConditionOptions;
  readonly #over = new AbortController();
  #absent: { sinceMs: number; isLogged: boolean } | undefined;
  #lost = 0;
  #isSilent = false;
  #backMs = Number.NEGATIVE_INFINITY;
  #failedMs = Number.NEGATIVE_INFINITY;
  #latest: Error | undefined;

  constructor(options: ConditionOptions) {
    this.#options = options;
  }

  /** Null when Redis is there, or was missed for a moment only. */
  get sinceMs(): number | null {
    return this.#absent?.isLogged === true ? this.#absent.sinceMs : null;
  }

  /** Also when it is missed for a moment only, and for a moment after a failure or its return. */
  get isFelt(): boolean {
    const latestMs = Math.max(this.#backMs, this.#failedMs);
    return this.#absent !== undefined || this.#options.clock.now() - latestMs < ECHO_MS;
  }

  connections({ lost, error }: { lost: number; error: Error | undefined }): void {
    if (error !== undefined) this.#failedMs = this.#options.clock.now();
    this.#lost = lost;
    this.#latest = error ?? this.#latest;
    this.#settle();
  }

  answered(isAnswered: boolean): void {
    this.#isSilent = !isAnswered;
    this.#settle();
  }

  /** Logs nothing from here on. */
  close(): void {
    this.#over.abort(new Error('The process is stopping.'));
  }

  #settle(): void {
    const { clock } = this.#options;
    const isAbsent = this.#lost > 0 || this.#isSilent;
    if (!isAbsent) this.#end();
    else {
      const isNew = this.#absent === undefined;
      this.#absent ??= { sinceMs: clock.now(), isLogged: false };
      if (this.#isSilent) this.#begin(this.#absent);
      else if (isNew) void this.#beginUnlessBlip(this.#absent);
    }
  }

  async #beginUnlessBlip(absent: { sinceMs: number; isLogged: boolean }): Promise<void> {
    await this.#options.clock.sleep(BLIP_MS, this.#over.signal).catch(() => undefined);
    if (absent === this.#absent) this.#begin(absent);
  }

  #begin(absent: { sinceMs: number; isLogged: boolean }): void {
    if (absent.isLogged || this.#over.signal.aborted) return;
    const { place, log, onChange } = this.#options;
    absent.isLogged = true;
    const error = this.#latest === undefined ? 'no answer' : messageOf(this.#latest);
    log.error({ redis: place, since: isoTime(absent.sinceMs), error }, 'Redis went away');
    onChange();
  }

  #end(): void {
    if (this.#absent === undefined) return;
    const { place, log, clock, onChange } = this.#options;
    const { sinceMs, isLogged } = this.#absent;
    this.#absent = undefined;
    this.#latest = undefined;
    this.#backMs = clock.now();
    if (!isLogged || this.#over.signal.aborted) return;
    log.info({ redis: place, since: isoTime(sinceMs), awayMs: this.#backMs - sinceMs }, 'Redis is back');
    onChange();
  }
}

export type Refused = 'out of memory' | 'read-only';

/** Good answers in a row before refused writes count as over: at the edge of `maxmemory` they come and go. */
const GOOD_ANSWERS = 2;

/** Redis answers and refuses writes. */
export class Refusal {
  readonly #options: ConditionOptions;
  #refused: { kind: Refused; sinceMs: number; goodAnswers: number } | undefined;

  constructor(options: ConditionOptions) {
    this.#options = options;
  }

  sinceMs(kind: Refused): number | null {
    return this.#refused?.kind === kind ? this.#refused.sinceMs : null;
  }

  get error(): ChangefeedError | null {
    return this.#refused === undefined ? null : refusedError(this.#options.place, this.#refused.kind);
  }

  refused(kind: Refused): void {
    const { place, log, clock, onChange } = this.#options;
    if (this.#refused !== undefined) {
      this.#refused.goodAnswers = 0;
      return;
    }
    this.#refused = { kind, sinceMs: clock.now(), goodAnswers: 0 };
    log.error({ redis: place, code: 'CF_REDIS_REFUSES' }, WORDS[kind].begins);
    onChange();
  }

  accepted(): void {
    if (this.#refused === undefined || ++this.#refused.goodAnswers < GOOD_ANSWERS) return;
    const { place, log, clock, onChange } = this.#options;
    const { kind, sinceMs } = this.#refused;
    this.#refused = undefined;
    log.info({ redis: place, since: isoTime(sinceMs), refusedMs: clock.now() - sinceMs }, WORDS[kind].ends);
    onChange();
  }
}

const WORDS = {
  'out of memory': {
    begins: 'Redis is out of memory and refuses writes: polling, dispatching and handling are paused',
    ends: 'Redis has memory again; work goes on',
    why: 'maxmemory is reached. Free memory or raise maxmemory',
  },
  'read-only': {
    begins: 'Redis is a read-only replica and refuses writes: polling, dispatching and handling are paused',
    ends: 'Redis takes writes again; work goes on',
    why: 'it is a read-only replica. Wait for the failover to end, or name the primary in REDIS_URL',
  },
} as const satisfies Record<Refused, object>;

function refusedError(place: string, kind: Refused): ChangefeedError {
  return new ChangefeedError('CF_REDIS_REFUSES', {
    message: `Redis at ${place} refuses writes: ${WORDS[kind].why}; work goes on by itself then.`,
  });
}

/** Redis is set to evict keys when its memory is full. */
export class Eviction {
  readonly #options: ConditionOptions & { isAllowed: boolean };
  #evicting: { sinceMs: number; error: ChangefeedError } | undefined;
  #controller = new AbortController();
  #policy: string | null = null;

  constructor(options: ConditionOptions & { isAllowed: boolean }) {
    this.#options = options;
  }

  get policy(): string | null {
    return this.#policy;
  }

  get error(): ChangefeedError | null {
    return this.#evicting?.error ?? null;
  }

  /** Aborts when it begins. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * At the start, when a person can be asked.
   * @throws ChangefeedError CF_REDIS_EVICTS
   */
  check(policy: string | null): void {
    const { place, log, isAllowed } = this.#options;
    this.#policy = policy;
    if (policy === null) {
      log.warn({ redis: place }, 'the eviction policy of Redis may not be read: make sure that it is noeviction');
      return;
    }
    if (!evicts(policy)) return;
    if (!isAllowed) throw evictionError(place, policy);
    log.warn(
      { redis: place, found: policy },
      'Redis may evict keys, which redis.allowEviction allows: state may be lost',
    );
  }

  found(policy: string | null): void {
    if (policy === null) return;
    this.#policy = policy;
    if (!evicts(policy)) this.#end();
    else if (!this.#options.isAllowed) this.#begin(policy);
  }

  #begin(policy: string): void {
    if (this.#evicting !== undefined) return;
    const { place, log, clock, onChange } = this.#options;
    const error = evictionError(place, policy);
    this.#evicting = { sinceMs: clock.now(), error };
    this.#controller.abort(error);
    const facts = { redis: place, code: error.code, found: policy, error: error.message };
    log.error(facts, 'Redis may evict keys: polling, dispatching and handling are paused');
    onChange();
  }

  #end(): void {
    if (this.#evicting === undefined) return;
    const { place, log, clock, onChange } = this.#options;
    const { sinceMs } = this.#evicting;
    this.#evicting = undefined;
    this.#controller = new AbortController();
    const facts = { redis: place, since: isoTime(sinceMs), pausedMs: clock.now() - sinceMs };
    log.info(facts, 'Redis evicts no keys any more; work goes on');
    onChange();
  }
}
