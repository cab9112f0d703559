/** Runs the shortcuts of a list as the loop that holds its lease does, without a walk, on a clock that the test moves. */
import { builtInLists, descriptorOf, nameOf, type ListRef } from '../../src/crm/lists/lists.js';
import { compileRules, type FieldRules } from '../../src/feed/detect/rules.js';
import type { Clock } from '../../src/kit/clock.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { silentLog } from '../../src/kit/log.js';
import { createAimQueue, type AimQueue, queueNamed } from '../../src/feed/list/aim-queue.js';
import { createSweepStore, type SweepStore } from '../../src/feed/store/sweep-store.js';
import { openList, readAll, sweepList } from '../../src/feed/list/loop.js';
import { askForShortcut, type Answer } from '../../src/feed/list/pages.js';
import { ListShortcuts } from '../../src/feed/list/shortcuts/shortcuts.js';
import type { ListedApi } from './listed.js';
import type { TestRedis } from './redis.js';

export interface ShortcutLoop {
  queue: AimQueue;
  store: SweepStore;
  /** A complete sweep that begins as a walk with shortcuts does; tells the shortcuts what it found. */
  walk: () => Promise<void>;
  pass: (ms: number) => Promise<void>;
  lines: () => Promise<string[]>;
  restart: () => Promise<void>;
  now: () => number;
  later: (ms: number) => void;
  /** Sets the wall clock. */
  step: (ms: number) => void;
}

export async function shortcutLoop(
  redis: TestRedis,
  apis: Readonly<Record<string, ListedApi>>,
  ref: ListRef,
  fieldRules: FieldRules = {},
): Promise<ShortcutLoop> {
  const list = nameOf(ref);
  const api = apis[list];
  if (api === undefined) throw new Error(`no API for "${list}"`);
  let nowMs = Date.UTC(2026, 2, 2);
  let steppedMs = 0;
  const clock: Clock = { now: () => nowMs + steppedMs, monotonic: () => nowMs, sleep: () => Promise.resolve() };
  const scope = { redis: redis.redis, keys: redis.keys, workspace: 'acme' };
  const queue = createAimQueue(scope);
  const store = createSweepStore(redis.redis, redis.keys, 'acme');
  const named = { workspace: 'acme', queue, lists: builtInLists, clock, log: silentLog };
  const deps = {
    onEvents: (events: readonly ChangeEvent[]) => void queueNamed(events, named),
    workspace: 'acme',
    api,
    store,
    clock,
    log: silentLog,
    list,
    queue,
    requestsPerSecond: 4,
    aheadMs: () => steppedMs,
    intervalMs: null,
    hasOpen: descriptorOf(ref).open !== undefined,
  };
  const options = { list, rules: compileRules(ref, fieldRules), baseline: 'quiet', pagesAhead: 0 } as const;
  let shortcuts = new ListShortcuts(deps);

  const leased = async (use: (token: string) => Promise<void>): Promise<void> => {
    const lease = await store.acquire(list, 60_000);
    if (lease.outcome === 'held') throw new Error(`held by ${lease.holder}`);
    await use(lease.token);
    await store.release(list, lease.token);
  };
  const begin = async (): Promise<void> => {
    const { state } = await store.load(list);
    await shortcuts.begin(state, nowMs);
  };
  await begin();
  return {
    queue,
    store,
    now: () => nowMs,
    later: (ms) => void (nowMs += ms),
    step: (ms) => void (steppedMs += ms),
    async walk() {
      nowMs += 60_000;
      const telling: typeof store = {
        ...store,
        async commit(name, commit) {
          const result = await store.commit(name, commit);
          const events = commit.writes.flatMap(({ event }) => (event === null ? [] : [event]));
          if (events.length > 0)
            shortcuts.walked({ page: commit.page?.number ?? 0, isKept: true, events, open: [] }, nowMs);
          return result;
        },
      };
      const result = await sweepList({ ...deps, store: telling }, options);
      if (result.outcome === 'held') throw new Error('held');
      await begin();
    },
    async pass(ms) {
      await leased(async (token) => {
        const { signal } = new AbortController();
        const opened = await openList(deps, { ...options, shortcuts }, { token, signal, epoch: undefined });
        await opened.restoreMemory();
        const answers = async function* (): AsyncGenerator<Answer> {
          for (const until = nowMs + ms; nowMs < until; nowMs += 100) {
            const shortcut = await shortcuts.next(nowMs);
            if (shortcut !== null) yield await askForShortcut(opened, shortcut, signal);
          }
        };
        await readAll(opened, answers());
      });
    },
    async lines() {
      const entries = await redis.redis.xrange(redis.keys.log('acme'), '-', '+');
      return entries.map(([, [, json = '']]) => {
        const { type, subject } = JSON.parse(json) as { type: string; subject: string };
        return `${type.split('.')[2] ?? ''} ${subject}`;
      });
    },
    async restart() {
      await shortcuts.end();
      shortcuts = new ListShortcuts(deps);
      await begin();
    },
  };
}
