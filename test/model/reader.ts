/** A process's shortcuts. Their connection differs from one sweep to the next, because each has a fault schedule of its own. */
import type { ListName } from '../../src/crm/lists/lists.js';
import { silentLog } from '../../src/kit/log.js';
import { ListShortcuts, type Shortcuts } from '../../src/feed/list/shortcuts/shortcuts.js';
import type { AimQueue } from '../../src/feed/list/aim-queue.js';
import type { SweepStore } from '../../src/feed/store/sweep-store.js';

interface Connection {
  store: SweepStore;
  queue: AimQueue;
}

export interface Reader {
  shortcuts: Shortcuts;
  /** Replaced while the process goes on. */
  connection: Connection;
}

export function newReader(list: ListName, workspace: string, given: Connection): Reader {
  const connection = { ...given };
  const store: SweepStore = {
    ...given.store,
    pages: (...args) => connection.store.pages(...args),
    membersOf: (...args) => connection.store.membersOf(...args),
    learned: (...args) => connection.store.learned(...args),
    saveLearned: (...args) => connection.store.saveLearned(...args),
  };
  const queue: AimQueue = { ...given.queue, take: (...args) => connection.queue.take(...args) };
  return {
    shortcuts: new ListShortcuts({
      ...{ workspace, list, store, queue, log: silentLog },
      requestsPerSecond: 8,
      intervalMs: null,
    }),
    connection,
  };
}
