/** Allows as many sweeps at once as the event loop keeps up with: with more, leases expire and nothing is finished. */
import { reasonOf, systemClock, type Clock, onAbort } from './clock.js';

/** A timer that is later shows that the loop does not keep up. */
const LATE_MS = 100;
const SAMPLE_MS = 250;
const AT_FIRST = 32;
const LEAST = 4;
/** Longer work, such as the sweep of a large list or of a slow API, keeps no other waiting. */
const TENURE_MS = 10_000;

interface Work {
  /** When it came, and then when it began; ms of the monotonic clock. */
  sinceMs: number;
  alive: () => void;
  begin: () => void;
}

export class Capacity {
  readonly #clock: Clock;
  readonly #running = new Set<Work>();
  readonly #waiting = new Set<Work>();
  #most = AT_FIRST;
  #isMeasuring = false;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** How many wait, and for how long the first of them has; ms. */
  get waiting(): { count: number; forMs: number } {
    const [first] = this.#waiting;
    return { count: this.#waiting.size, forMs: first === undefined ? 0 : this.#clock.monotonic() - first.sinceMs };
  }

  /** @param wait.alive called again and again while the work waits for its turn */
  async run<T>(work: () => Promise<T>, { signal, alive }: { signal: AbortSignal; alive: () => void }): Promise<T> {
    const own: Work = { sinceMs: this.#clock.monotonic(), alive, begin: () => undefined };
    const turn = new Promise<void>((resolve) => (own.begin = resolve));
    this.#waiting.add(own);
    const forget = onAbort(signal, () => {
      if (this.#waiting.delete(own)) own.begin();
    });
    this.#admit();
    if (!this.#isMeasuring) void this.#measure();
    try {
      await turn;
      forget();
      if (signal.aborted) throw reasonOf(signal);
      return await work();
    } finally {
      this.#running.delete(own);
      this.#admit();
    }
  }

  #admit(): void {
    for (const next of this.#waiting) {
      if (this.#running.size >= this.#most) return;
      this.#waiting.delete(next);
      this.#running.add(next);
      next.sinceMs = this.#clock.monotonic();
      next.begin();
    }
  }

  async #measure(): Promise<void> {
    this.#isMeasuring = true;
    while (this.#running.size + this.#waiting.size > 0) {
      const askedMs = this.#clock.monotonic();
      await this.#clock.sleep(SAMPLE_MS);
      const nowMs = this.#clock.monotonic();
      if (nowMs - askedMs > SAMPLE_MS + LATE_MS) this.#most = Math.max(LEAST, Math.floor(0.8 * this.#running.size));
      else if (this.#waiting.size > 0) this.#most = Math.ceil(1.1 * this.#most);
      for (const work of this.#running) if (nowMs - work.sinceMs > TENURE_MS) this.#running.delete(work);
      for (const work of this.#waiting) work.alive();
      this.#admit();
    }
    this.#isMeasuring = false;
  }
}
