/** A process's shortcuts. Their connection differs from one sweep to the next, because each has a fault schedule of its own. */
import type { ListName } from '../../src/crm/lists/lists.js';
import { silentLog } from '../../src/runtime/log.js';
import { createShortcuts, type Shortcuts } from '../../src/sweep/shortcuts/shortcuts.js';
import type { AimQueue, ShortcutStore } from '../../src/sweep/shortcuts/store.js';
import type { SweepStore } from '../../src/sweep/store.js';

export type ModelStore = SweepStore & ShortcutStore;

interface Connection {
  store: ModelStore;
  queue: AimQueue;
}

export interface Reader {
  shortcuts: Shortcuts;
  /** Replaced while the process goes on. */
  connection: Connection;
}

export function newReader(list: ListName, workspace: string, { store, queue }: Connection): Reader {
  const connection = { store, queue };
  const current: Pick<ModelStore, 'pages' | 'membersOf' | 'learned' | 'saveLearned'> = {
    pages: (...args) => connection.store.pages(...args),
    membersOf: (...args) => connection.store.membersOf(...args),
    learned: (...args) => connection.store.learned(...args),
    saveLearned: (...args) => connection.store.saveLearned(...args),
  };
  const taken: Pick<AimQueue, 'take'> = { take: (...args) => connection.queue.take(...args) };
  return {
    shortcuts: createShortcuts({
      ...{ workspace, list, store: current, queue: taken, log: silentLog },
      requestsPerSecond: 8,
      intervalMs: null,
    }),
    connection,
  };
}
