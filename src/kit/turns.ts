/** Runs work one at a time per key, in the order of the calls. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const mine = before === undefined ? work() : before.then(work);
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, settled);
    void settled.then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    return mine;
  }

  async over(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
