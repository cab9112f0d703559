/**
 * Something that this process calls and that no longer answers: logged once when it begins and once when it is over, however many calls
 * fail in between.
 */
import type { Clock } from './clock.js';
import type { Log } from './log.js';

export interface OutageOptions {
  /** What the line says when the outage begins, and when it is over. */
  begins: string;
  ends: string;
  /** Of the line when it begins. @defaultValue 'warn' */
  level?: 'warn' | 'error';
  /** Called when it is over. */
  ended?: () => void;
  /** In both lines. */
  facts: object;
  log: Log;
  clock: Clock;
}

/** Fewer failures in a row, or failures for a shorter time, are no outage: the next try may succeed. */
const FAILURES = 3;
const LASTS_MS = 2_000;
/** What failed in an outage may go on failing for this time: a sweep that waits for its next attempt. */
const ECHO_MS = 60_000;

export class Outage {
  readonly #options: OutageOptions;
  #failures = 0;
  #sinceMs = 0;
  #holds = false;
  #last = { sinceMs: 0, endedMs: 0 };

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** It was logged and is not over. */
  get holds(): boolean {
    return this.#holds;
  }

  /** Whether a failure since this time, in ms, is a consequence of the outage that was logged. */
  explains(failedSinceMs: number): boolean {
    const { sinceMs, endedMs } = this.#last;
    const wasPart = failedSinceMs >= sinceMs && failedSinceMs <= endedMs;
    return this.#holds || (wasPart && this.#options.clock.now() - endedMs < ECHO_MS);
  }

  /** @param facts why the call failed; no contents, no secrets */
  failed(facts: object): void {
    const { clock, log, begins, level = 'warn' } = this.#options;
    if (this.#failures === 0) this.#sinceMs = clock.now();
    this.#failures += 1;
    if (this.#holds || this.#failures < FAILURES || clock.now() - this.#sinceMs < LASTS_MS) return;
    this.#holds = true;
    log[level]({ ...this.#options.facts, ...facts }, begins);
  }

  answered(): void {
    if (this.#failures === 0) return;
    const { clock, log, ends, facts, ended } = this.#options;
    const wasHeld = this.#holds;
    if (wasHeld) {
      this.#last = { sinceMs: this.#sinceMs, endedMs: clock.now() };
      log.info({ ...facts, failures: this.#failures, awayMs: clock.now() - this.#sinceMs }, ends);
    }
    this.#failures = 0;
    this.#holds = false;
    if (wasHeld) ended?.();
  }
}
