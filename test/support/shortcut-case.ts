/** Reads single pages of a list outside the order of its sweeps, and commits them, on a real Redis. */
import { compileRules } from '../../src/detect/rules.js';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import { silentLog } from '../../src/runtime/log.js';
import { createShortcutStore } from '../../src/state/shortcut-store.js';
import { commitShortcut, type ShortcutResult } from '../../src/sweep/shortcuts/commit-shortcut.js';
import type { ShortcutOptions } from '../../src/sweep/shortcuts/shortcut-page.js';
import type { ShortcutStore } from '../../src/sweep/shortcuts/store.js';
import type { FencingToken } from '../../src/sweep/store.js';
import type { ListedApi } from './listed.js';
import type { TestRedis } from './redis.js';
import { sweptList, type SweptList, type SweptListOptions } from './swept-list.js';

export interface ReadPage extends Partial<Omit<ShortcutOptions, 'list' | 'rules'>> {
  page: number;
  /** @defaultValue the position of the page in pages of two records */
  cursor?: string | null;
  /** ms before now @defaultValue 0 */
  askedMsAgo?: number;
  /** Kept cursors are answered with the list as it is now. @defaultValue true */
  isLive?: boolean;
  source?: string;
  /** @defaultValue a lease of its own */
  token?: FencingToken;
}

export interface ShortcutCase extends SweptList {
  shortcuts: ShortcutStore;
  /** Reads one page and commits it. */
  read: (page: ReadPage) => Promise<ShortcutResult>;
  /** A sweep that begins as a walk with shortcuts does. */
  walk: (options?: SweptListOptions) => Promise<void>;
}

export function shortcutCase(redis: TestRedis, api: ListedApi, list: BuiltInList = 'people'): ShortcutCase {
  const swept = sweptList(redis, api, list);
  const shortcuts = createShortcutStore({ redis: redis.redis, keys: redis.keys, workspace: 'acme' });
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
    shortcuts,
    async read({
      page,
      cursor = page === 1 ? null : String((page - 1) * 2),
      askedMsAgo = 0,
      isLive = true,
      source,
      ...more
    }) {
      const shortcut = { kind: 'tail', page, cursor, ids: [], value: () => 1 } as const;
      const askedAtMs = clock.now() - askedMsAgo;
      const answer = await api.fetchPage(list, { cursor, page });
      const { token, ...options } = more;
      const commit = async (held: FencingToken): Promise<ShortcutResult> => {
        const { checkpoint, state } = await store.load(list);
        return await commitShortcut(
          { workspace: 'acme', source, store: { ...store, ...shortcuts }, clock, log: silentLog },
          { ...options, list, rules: compileRules(list) },
          { shortcut, answer, askedAtMs, token: held, state, checkpoint, memory: null, isLive },
        );
      };
      return token === undefined ? await leased(commit) : await commit(token);
    },
    async walk(options) {
      await leased(async (token) => {
        const { checkpoint } = await store.load(list);
        if (checkpoint === null) await shortcuts.beginWalk(list, token);
      });
      await swept.sweep(options);
    },
  };
}
