/** What is under way and would have to be repeated if the process ended now: a stop that cannot wait for it names it. */
export interface Unfinished {
  /** Counts `what` as under way until the work has ended. */
  during<T>(what: string, work: () => Promise<T>): Promise<T>;
  /** E.g. `commit of list "people"`, `handling of "ops" (3 times)`. */
  list(): string[];
}

export function createUnfinished(): Unfinished {
  const underWay = new Map<string, number>();
  const count = (what: string, by: 1 | -1): void => {
    const now = (underWay.get(what) ?? 0) + by;
    if (now === 0) underWay.delete(what);
    else underWay.set(what, now);
  };
  return {
    async during(what, work) {
      count(what, 1);
      try {
        return await work();
      } finally {
        count(what, -1);
      }
    },
    list: () => [...underWay].map(([what, times]) => (times === 1 ? what : `${what} (${times} times)`)),
  };
}
