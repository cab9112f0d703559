/** A clock that advances only when code reads it or sleeps on it: a run always has the same times, and no wait takes real time. */
import type { Clock } from '../../src/kit/clock.js';

/** How often a lease is renewed (src/feed/list/lease.ts). */
const RENEWAL_MS = 5_000;

interface Sleeper {
  at: number;
  wake: () => void;
}

export class ModelTime {
  #now = Date.UTC(2026, 2, 1);
  #sleepers: Sleeper[] = [];

  /** Both advance by one, so that no two readings are equal. */
  now = (): number => ++this.#now;
  monotonic = (): number => ++this.#now;

  advance(ms: number): void {
    this.#now += ms;
    const due = this.#sleepers.filter(({ at }) => at <= this.#now);
    this.#sleepers = this.#sleepers.filter(({ at }) => at > this.#now);
    for (const { wake } of due) wake();
  }

  readonly autoAdvancing: Clock = {
    now: this.now,
    monotonic: this.monotonic,
    sleep: (ms) => {
      this.advance(ms);
      return Promise.resolve();
    },
  };

  readonly waiting: Clock = {
    now: this.now,
    monotonic: this.monotonic,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const abort = (): void => {
          this.#sleepers = this.#sleepers.filter((one) => one !== sleeper);
          reject(new Error('aborted'));
        };
        const sleeper = {
          at: this.#now + ms,
          wake: (): void => {
            signal?.removeEventListener('abort', abort);
            resolve();
          },
        };
        this.#sleepers.push(sleeper);
        signal?.addEventListener('abort', abort, { once: true });
      }),
  };

  /** For a list that waits: the waits between its shortcuts, which are short, advance the time; the renewal of its lease waits. */
  readonly betweenSweeps: Clock = {
    now: this.now,
    monotonic: this.monotonic,
    sleep: (ms, signal) => (ms === RENEWAL_MS ? this.waiting : this.autoAdvancing).sleep(ms, signal),
  };

  /** For the sandbox: its readings are far enough apart that a delayed modifiedAt never goes backwards. */
  readonly forWorld: Clock = {
    now: () => {
      this.#now += 100;
      return this.now();
    },
    monotonic: this.monotonic,
    sleep: (ms) => this.autoAdvancing.sleep(ms),
  };
}
