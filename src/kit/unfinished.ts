/** Work in progress that would be repeated if the process ended now. A stop that cannot wait for it reports it. */
export type Unfinished = ReturnType<typeof createUnfinished>;

export function createUnfinished() {
  const counts = new Map<string, number>();
  const count = (what: string, by: 1 | -1): void => {
    const now = (counts.get(what) ?? 0) + by;
    if (now === 0) counts.delete(what);
    else counts.set(what, now);
  };
  return {
    /** Counts `what` as in progress until the work has ended. */
    async during<T>(what: string, work: () => Promise<T>): Promise<T> {
      count(what, 1);
      try {
        return await work();
      } finally {
        count(what, -1);
      }
    },
    /** E.g. `commit of list "people"`, `handling of "ops" (3 times)`. */
    list: (): string[] => [...counts].map(([what, times]) => (times === 1 ? what : `${what} (${times} times)`)),
  };
}
