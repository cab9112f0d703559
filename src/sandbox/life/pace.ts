/** Makes life go on by itself: so many mutations per second, by the clock. */
import type { Clock } from '../../runtime/clock.js';

// Short enough for life to look even, long enough to cost nothing.
const TICK_MS = 50;

export class Pace {
  readonly #clock: Clock;
  readonly #step: (count: number) => void;
  #stopping: AbortController | null = null;
  #running: Promise<void> = Promise.resolve();
  /** Mutations per second; 0 stands still. */
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
      // After a long sleep of the machine life goes on where it was: it does not catch up.
      owed += Math.min(1_000, now - last) * (this.rate / 1_000);
      last = now;
      if (owed >= 1) this.#step(Math.floor(owed));
      owed %= 1;
    }
  }
}
