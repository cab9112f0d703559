/** Reads single pages of a list outside the order of its sweeps, and commits them, on a real Redis. */
import { compileRules } from '../../src/feed/detect/rules.js';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import { silentLog } from '../../src/kit/log.js';
import { commitShortcut, type ShortcutResult } from '../../src/feed/list/shortcuts/commit-shortcut.js';
import { restoreMemory } from '../../src/feed/list/memory.js';
import type { SweepOptions } from '../../src/feed/list/options.js';
import type { FencingToken } from '../../src/feed/store/sweep-state.js';
import type { ListedApi } from './listed.js';
import type { TestRedis } from './redis.js';
import { sweptList, type SweptList } from './swept-list.js';

export interface ReadPage extends Partial<Omit<SweepOptions, 'list' | 'rules'>> {
  page: number;
  cursor?: string | null;
  askedMsAgo?: number;
  isLive?: boolean;
  source?: string;
  token?: FencingToken;
}

export interface ShortcutCase extends SweptList {
  read: (page: ReadPage) => Promise<ShortcutResult>;
  walk: SweptList['sweep'];
}

export function shortcutCase(redis: TestRedis, api: ListedApi, list: BuiltInList = 'people'): ShortcutCase {
  const swept = sweptList(redis, api, list);
  const { store, clock } = swept;
  const leased = async <T>(use: (token: FencingToken) => Promise<T>): Promise<T> => {
    const lease = await store.acquire(list, 60_000);
    if (lease.outcome === 'held') throw new Error(`held by ${lease.holder}`);
    try {
      return await use(lease.token);
    } finally {
      await store.release(list, lease.token);
    }
  };
  return {
    ...swept,
    async read({
      page,
      cursor = page === 1 ? null : String((page - 1) * 2),
      askedMsAgo = 0,
      isLive = true,
      source,
      ...more
    }) {
      const shortcut = { kind: 'last', page, cursor, ids: [], value: () => 1 } as const;
      const askedAtMs = clock.now() - askedMsAgo;
      const answer = await api.fetchPage(list, { cursor, page });
      const { token, ...options } = more;
      const commit = async (held: FencingToken): Promise<ShortcutResult> => {
        const { checkpoint, state } = await store.load(list);
        const memory = await restoreMemory(store, list, checkpoint ?? { pages: 0 });
        return await commitShortcut(
          { workspace: 'acme', source, api, store, clock, log: silentLog },
          { baseline: 'quiet', ...options, list, rules: compileRules(list) },
          { shortcut, answer, askedAtMs, token: held, state, checkpoint, memory, isLive },
        );
      };
      return token === undefined ? await leased(commit) : await commit(token);
    },
    walk: swept.sweep,
  };
}
