/** Lines of which one cause can bring thousands: each cause is one line a minute, with how often it came. */

/** So that a burst is one line with its number. */
const FIRST_AFTER_MS = 1_000;
const EVERY_MS = 60_000;

interface CountedCause {
  times: number;
  facts: object;
  timer: NodeJS.Timeout;
}

export class Tally {
  readonly #say: (facts: object) => void;
  readonly #causes = new Map<string, CountedCause>();

  /** @param say logs a line: the facts of the last time, and `times` */
  constructor(say: (facts: object) => void) {
    this.#say = say;
  }

  add(facts: object, cause = ''): void {
    const counted = this.#causes.get(cause);
    const timer = counted?.timer ?? this.#timer(cause, FIRST_AFTER_MS);
    this.#causes.set(cause, { times: (counted?.times ?? 0) + 1, facts, timer });
  }

  /** Logs what has not been logged. */
  close(): void {
    for (const [cause, { timer }] of this.#causes) {
      clearTimeout(timer);
      this.#flush(cause);
    }
  }

  #flush(cause: string): void {
    const counted = this.#causes.get(cause);
    this.#causes.delete(cause);
    if (counted === undefined || counted.times === 0) return;
    this.#say({ ...counted.facts, times: counted.times });
    this.#causes.set(cause, { ...counted, times: 0, timer: this.#timer(cause, EVERY_MS) });
  }

  /** It does not keep the process alive. */
  #timer(cause: string, ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#flush(cause), ms).unref();
  }
}
