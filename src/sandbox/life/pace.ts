/** Makes mutations at a steady rate. */
import type { Clock } from '../../runtime/clock.js';

// Short enough for an even rate, long enough to cost nothing.
const TICK_MS = 50;

export class Pace {
  readonly #clock: Clock;
  readonly #step: (count: number) => void;
  #stopping: AbortController | null = null;
  #running: Promise<void> = Promise.resolve();
  /** Mutations per second; 0 for none. */
  rate: number;

  constructor(clock: Clock, rate: number, step: (count: number) => void) {
    this.#clock = clock;
    this.#step = step;
    this.rate = rate;
  }

  start(): void {
    if (this.#stopping !== null) return;
    this.#stopping = new AbortController();
    this.#running = this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping?.abort();
    await this.#running;
    this.#stopping = null;
  }

  async #run(signal: AbortSignal): Promise<void> {
    let owed = 0;
    let last = this.#clock.now();
    for (;;) {
      await this.#clock.sleep(TICK_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      const now = this.#clock.now();
      // After the machine slept, missed mutations are not made up for.
      owed += Math.min(1_000, now - last) * (this.rate / 1_000);
      last = now;
      if (owed >= 1) this.#step(Math.floor(owed));
      owed %= 1;
    }
  }
}
