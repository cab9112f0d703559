/** Reads single pages of a list outside the order of its sweeps, and commits them, on a real Redis. */
import { compileRules } from '../../src/feed/detect/rules.js';
import type { UncheckedRecord } from '../../src/crm/record.js';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import { silentLog } from '../../src/kit/log.js';
import type { ListOptions } from '../../src/feed/list/list.js';
import { openList } from '../../src/feed/list/loop.js';
import type { ShownPage } from '../../src/feed/list/shortcuts/plan.js';
import type { Shortcuts } from '../../src/feed/list/shortcuts/shortcuts.js';
import { take } from '../../src/feed/list/take.js';
import type { FencingToken } from '../../src/feed/store/sweep-state.js';
import { listedApi, type ListedApi } from './listed.js';
import type { TestRedis } from './redis.js';
import { sweptList, type SweptList } from './swept-list.js';

export interface ReadPage extends Partial<Omit<ListOptions, 'list' | 'rules'>> {
  page: number;
  cursor?: string | null;
  askedMsAgo?: number;
  isLive?: boolean;
  source?: string;
  token?: FencingToken;
}

export interface ShortcutCase extends SweptList {
  /** What the page has shown, or why nothing of it was judged. */
  read: (page: ReadPage) => Promise<ShownPage | string | undefined>;
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
      const answer = { by: 'shortcut', shortcut, page: await api.fetchPage(list, { cursor, page }) } as const;
      const { token, ...options } = more;
      const shortcuts = { isLive: () => isLive } as Shortcuts;
      const commit = async (held: FencingToken) => {
        const opened = await openList(
          { workspace: 'acme', source, api, store, clock, log: silentLog },
          { baseline: 'quiet', ...options, list, rules: compileRules(list), shortcuts },
          { token: held, signal: new AbortController().signal, epoch: undefined },
        );
        await opened.restoreMemory();
        const { step, shown, dropped } = await take(opened, { ...answer, askedAtMs, askedMs: askedAtMs });
        if (step !== null) await opened.commit(step);
        return shown ?? dropped;
      };
      return token === undefined ? await leased(commit) : await commit(token);
    },
    walk: swept.sweep,
  };
}

/** A list of people after its first walk. */
export async function walkedCase(
  redis: TestRedis,
  records: UncheckedRecord[],
  pageSize?: number,
): Promise<ShortcutCase & { api: ListedApi }> {
  const api = listedApi(records, pageSize);
  const opened = shortcutCase(redis, api);
  await opened.walk();
  return { ...opened, api };
}
