/** One at a time per lane, in the order of asking; and knowing when all are over. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  take<T>(lane: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(lane);
    const mine = before === undefined ? work() : before.then(work);
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(lane, settled);
    void settled.then(() => {
      if (this.#last.get(lane) === settled) this.#last.delete(lane);
    });
    return mine;
  }

  /** Resolves when nothing is under way. */
  async over(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
