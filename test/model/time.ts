/** A clock that moves only when it is looked at or slept on: the same run has the same times, and no wait takes any. */
import type { Clock } from '../../src/runtime/clock.js';

interface Sleeper {
  at: number;
  wake: () => void;
}

export class ModelTime {
  #now = Date.UTC(2026, 2, 1);
  #sleepers: Sleeper[] = [];

  /** Ticks, so that no two moments are the same. */
  now = (): number => ++this.#now;

  pass(ms: number): void {
    this.#now += ms;
    const due = this.#sleepers.filter(({ at }) => at <= this.#now);
    this.#sleepers = this.#sleepers.filter(({ at }) => at > this.#now);
    for (const { wake } of due) wake();
  }

  /** Sleeping on it lets time pass at once. */
  readonly driving: Clock = {
    now: this.now,
    sleep: (ms) => {
      this.pass(ms);
      return Promise.resolve();
    },
  };

  /** Sleeping on it lasts until something else has let that time pass. */
  readonly following: Clock = {
    now: this.now,
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

  /** The world's: between two of its moments a change stamp never goes back, whatever it trails behind. */
  readonly ofWorld: Clock = {
    now: () => {
      this.#now += 100;
      return this.now();
    },
    sleep: (ms) => this.driving.sleep(ms),
  };
}
