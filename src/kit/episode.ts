/** Trouble that lasts: logged once when it begins and once when it is over, however many calls fail in between. */
import { isoTime, type Clock } from './clock.js';
import type { Log } from './log.js';

export interface EpisodeOptions {
  begins: string;
  ends: string;
  /** Level of the line when it begins. @defaultValue 'error' */
  level?: 'warn' | 'error';
  /** Fewer failures in a row, or for a shorter time, are no trouble. @defaultValue the first begins it */
  threshold?: { failures: number; lastsMs: number };
  /** Trouble of the same kind that comes back so soon belongs to the trouble before: it is logged when it lasts as long. @defaultValue 0 */
  relapseMs?: number;
  ended?: () => void;
  facts: object;
  log: Log;
  clock: Clock;
}

/** A failure in an episode may be reported so long after it: by a sweep that waits for its next attempt. */
const ECHO_MS = 60_000;

export class Episode {
  readonly #options: EpisodeOptions;
  #failures = 0;
  #sinceMs = 0;
  /** The same moments by the monotonic clock. */
  #begunMs = 0;
  #endedMs = Number.NEGATIVE_INFINITY;
  #isRelapse = false;
  /** The end of the last trouble that was logged, or that was a relapse, and its kind. */
  #restedMs = Number.NEGATIVE_INFINITY;
  #restedKind = '';
  #logged: string | undefined;
  #overMs = Number.NEGATIVE_INFINITY;

  constructor(options: EpisodeOptions) {
    this.#options = options;
  }

  get holds(): boolean {
    return this.#logged !== undefined;
  }

  /** In a row; 0 when there is no trouble. */
  get failures(): number {
    return this.#failures;
  }

  /** The first of the failures in a row, ms. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** Whether a failure of this time, in ms, is a consequence of what was logged. */
  explains(failedMs: number): boolean {
    return this.holds || (failedMs <= this.#overMs && this.#options.clock.monotonic() - this.#endedMs < ECHO_MS);
  }

  /** Returns whether it was logged. A failure of another `kind` than the last one is logged again. @param how.agoMs it began so long ago */
  failed(facts: object, { kind = '', agoMs = 0 }: { kind?: string; agoMs?: number } = {}): boolean {
    const {
      begins,
      level = 'error',
      threshold = { failures: 1, lastsMs: 0 },
      relapseMs = 0,
      log,
      clock,
    } = this.#options;
    if (this.#failures === 0) {
      [this.#sinceMs, this.#begunMs] = [clock.now() - agoMs, clock.monotonic() - agoMs];
      this.#isRelapse = kind === this.#restedKind && this.#begunMs - this.#restedMs < relapseMs;
    }
    this.#failures += 1;
    const lastsMs = this.#isRelapse ? Math.max(relapseMs, threshold.lastsMs) : threshold.lastsMs;
    if (this.#failures < threshold.failures || clock.monotonic() - this.#begunMs < lastsMs) return false;
    if (kind === this.#logged) return false;
    this.#logged = kind;
    log[level]({ ...this.#options.facts, ...facts }, begins);
    return true;
  }

  /** There is no trouble now. May be called again and again. */
  over(more: object = {}): void {
    const { ends, ended, facts, log, clock } = this.#options;
    const failures = this.#failures;
    const held = this.holds;
    this.#failures = 0;
    this.#restedKind = this.#logged ?? this.#restedKind;
    this.#logged = undefined;
    if (held || (failures > 0 && this.#isRelapse)) this.#restedMs = clock.monotonic();
    if (!held) return;
    [this.#overMs, this.#endedMs] = [clock.now(), clock.monotonic()];
    const since = isoTime(this.#sinceMs);
    log.info({ ...facts, since, forMs: this.#endedMs - this.#begunMs, failures, ...more }, ends);
    ended?.();
  }
}
