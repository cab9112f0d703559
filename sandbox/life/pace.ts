/** Makes mutations at a steady rate. */
import { isAborted, sleepUntilAborted, type Clock } from '../../src/kit/clock.js';

// Short enough for an even rate, long enough to cost nothing.
const TICK_MS = 50;

export class Pace {
  readonly #clock: Clock;
  readonly #step: (count: number) => void;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;
  /** Mutations per second; 0 for none. */
  rate: number;

  constructor(clock: Clock, rate: number, step: (count: number) => void) {
    this.#clock = clock;
    this.#step = step;
    this.rate = rate;
  }

  start(): void {
    this.#running ??= this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    let owed = 0;
    let last = this.#clock.now();
    for (;;) {
      await sleepUntilAborted(this.#clock, TICK_MS, signal);
      if (isAborted(signal)) return;
      const now = this.#clock.now();
      // After the machine slept, missed mutations are not made up for.
      owed += Math.min(1_000, now - last) * (this.rate / 1_000);
      last = now;
      if (owed >= 1) this.#step(Math.floor(owed));
      owed %= 1;
    }
  }
}
