import type { SweepStore } from '../../src/feed/store/sweep-store.js';

/** The store of a process that is killed at this write: the write takes effect, and the process gets no answer. */
export function dyingStore(store: SweepStore, fatal: number): { dying: SweepStore; writes: () => number } {
  let writes = 0;
  const write = async <R>(written: Promise<R>): Promise<R> => {
    const result = await written;
    if ((writes += 1) === fatal) throw new Error('killed');
    return result;
  };
  const dying: SweepStore = {
    ...store,
    commit: (list, step) => write(store.commit(list, step)),
    promotePages: (list, pages) => write(store.promotePages(list, pages)),
  };
  return { dying, writes: () => writes };
}
