/** The workspaces as this process uses them: the client of each API, its stores, and the rules of its lists. */
import { openReadApi } from '../src/feed/api/client.js';
import type { ApiOutages } from '../src/feed/api/retry.js';
import { polledLists } from '../src/config/lists.js';
import { BACKGROUND_PART } from '../src/feed/api/fair-queue.js';
import { createSharedBudget } from '../src/feed/api/shared-budget.js';
import type { ListConfig, WorkspaceConfig } from '../src/config/schema.js';
import { compileRules, type Rules, type TodoWatch } from '../src/feed/detect/rules.js';
import { usage } from '../src/kit/errors.js';
import { builtInLists, withBuiltIn, type ListName } from '../src/crm/lists/lists.js';
import type { CrmRecord } from '../src/crm/record.js';
import { listsForWord } from '../src/crm/references.js';
import type { People } from '../src/delivery/handlers/people.js';
import type { Surroundings } from '../src/delivery/run/attempt.js';
import { createMutes } from '../src/delivery/mutes.js';
import { recordPage } from '../src/delivery/run/page-links.js';
import type { WorkspaceRedis } from '../src/redis/keys.js';
import { linksByObject } from '../src/events/related.js';
import type { ChangeEvent } from '../src/events/types.js';
import { normaliseBaseUrl } from '../src/kit/schema/addresses.js';
import { isoTime } from '../src/kit/clock.js';
import { readTime } from '../src/kit/iso-time.js';
import { Episode } from '../src/kit/episode.js';
import type { Log } from '../src/kit/log.js';
import { createActors } from '../src/feed/list/actors.js';
import { createAimQueue, type AimQueue, queueNamed, type NamedOptions } from '../src/feed/list/aim-queue.js';
import { createBudgetWindow } from '../src/feed/api/budget-window.js';
import { createCreditStore } from '../src/feed/store/credits.js';
import { createScheduleStore } from '../src/feed/store/schedule.js';
import { createSweepStore, type SweepStore } from '../src/feed/store/sweep-store.js';
import { createTodoStore } from '../src/feed/todos/todo-store.js';
import { AskedLists } from '../src/feed/list/asked-lists.js';
import { createFailureLog } from '../src/feed/list/failures.js';
import type { Pace } from '../src/feed/list/schedule.js';
import { createSweepLog } from '../src/feed/list/sweep-log.js';
import { ListShortcuts, type Shortcuts } from '../src/feed/list/shortcuts/shortcuts.js';
import type { AppContext } from './context.js';

/** `paused`, and `removed` until it is erased: not polled, and its events are delivered. */
export type PollingState = 'active' | 'paused' | 'removed';

type ListWithRules = ListConfig & Pace & { rules: Rules };

export type Workspace = ReturnType<typeof openWorkspace>;
export type Workspaces = ReturnType<typeof createWorkspaces>;

export function createWorkspaces(context: AppContext, { attempts }: { attempts: number | undefined }) {
  const configs = context.config.workspaces as WorkspaceConfig[];
  const byName = new Map<string, Workspace>();
  /** The same array as long as the process runs. */
  const names: string[] = [];
  /** In the place of the one of that name. */
  const put = (config: WorkspaceConfig, state: PollingState = 'active'): Workspace => {
    const opened = openWorkspace(context, config, { attempts, state });
    const at = configs.findIndex(({ name }) => name === config.name);
    configs.splice(at === -1 ? configs.length : at, 1, config);
    if (!byName.has(config.name)) names.push(config.name);
    byName.set(config.name, opened);
    return opened;
  };
  for (const config of [...configs]) put(config);
  const get = (name: string): Workspace => {
    const found = byName.get(name);
    if (found !== undefined) return found;
    throw usage(names.length === 0 ? NONE_YET : `There is no workspace "${name}". There are ${named(names)}.`);
  };
  return {
    ...{ names, put },
    all: (): Workspace[] => [...byName.values()],
    /** @throws ChangefeedError CF_USAGE when there is no such workspace */
    get,
    find: (name: string): Workspace | undefined => byName.get(name),
    /** @throws ChangefeedError CF_USAGE when there is no such workspace, or several and no name */
    choose(name: string | undefined): Workspace {
      const [first, second] = names;
      if (name !== undefined) return get(name);
      if (first !== undefined && second === undefined) return get(first);
      throw usage(first === undefined ? NONE_YET : `Which workspace? Name one of ${named(names)} with --workspace.`);
    },
    async remove(name: string): Promise<void> {
      const found = byName.get(name);
      if (found === undefined) return;
      byName.delete(name);
      names.splice(names.indexOf(name), 1);
      configs.splice(configs.indexOf(found.config), 1);
      await found.api.close();
    },
    surroundingsOf: (name: string): Surroundings => byName.get(name)?.surroundings ?? NO_SURROUNDINGS,
    async close(): Promise<void> {
      await Promise.all([...byName.values()].map(({ api }) => api.close()));
    },
  };
}

const NONE_YET = 'There is no workspace yet: "changefeed workspaces put" adds one.';
const MOST_NAMED = 20;

/** All of some hundred would hide the sentence. */
function named(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return [names.slice(0, MOST_NAMED).join(', '), ...(more > 0 ? [`${more} more`] : [])].join(' and ');
}

/** The configuration may no longer name a workspace whose events are still in the queues. */
const NO_SURROUNDINGS: Surroundings = {
  ...{ data: {}, language: 'en', timeZone: 'UTC', lists: builtInLists, links: new Map(), people: {} },
  comparisonOf: () => undefined,
  pageOf: () => null,
  mutes: { isMuted: () => Promise.resolve(false), all: () => Promise.resolve([]) },
  record: () => Promise.resolve(null),
};

export function enabledLists({ lists }: Pick<WorkspaceConfig, 'lists'>): ListName[] {
  return Object.values(lists)
    .filter(({ enabled }) => enabled)
    .map(({ descriptor }) => descriptor.name);
}

/** @throws ChangefeedError CF_USAGE when the workspace has no such list */
export function listIn({ name, lists }: Pick<Workspace, 'name' | 'lists'>, list: ListName): ListWithRules {
  const found = lists.get(list);
  if (found !== undefined) return found;
  throw usage(`The workspace "${name}" has no list "${list}". Its lists are ${[...lists.keys()].join(', ')}.`);
}

/** The stored record; null when there is none. */
export async function storedRecord(
  store: Pick<SweepStore, 'records'>,
  list: ListName,
  id: string,
): Promise<CrmRecord | null> {
  const [stored] = await store.records(list, [id]);
  return stored?.image == null ? null : (JSON.parse(stored.image) as CrmRecord);
}

interface Stored {
  store: SweepStore;
  ruled: ReadonlyMap<ListName, ListWithRules>;
  people: People;
  scope: WorkspaceRedis;
  /** Where people reach the status page. */
  pageUrl: string | undefined;
}

/** What was stored before a list was switched off is not what the CRM has. */
function surroundings(
  { data, language, timeZone, lists, links }: WorkspaceConfig,
  { store, ruled, people, pageUrl, scope }: Stored,
): Surroundings {
  const known = withBuiltIn(Object.values(lists).map(({ descriptor }) => descriptor));
  const kept = new Set(
    Object.values(lists).flatMap((one) => (one.enabled && !one.descriptor.recognisedOnly ? [one.descriptor.name] : [])),
  );
  return {
    ...{ data, language, timeZone, lists: known, links: linksByObject(links, known), people },
    mutes: createMutes(scope),
    pageOf: (event) => recordPage(event, { pageUrl, lists: known }),
    comparisonOf: (object) => [...ruled.values()].find(({ descriptor }) => descriptor.object === object)?.rules,
    async record(word, id) {
      const list = listsForWord(word, known).find((name) => kept.has(name));
      return list === undefined ? null : await storedRecord(store, list, id);
    },
  };
}

interface Opened {
  attempts: number | undefined;
  /** Only an active one is polled. */
  state: PollingState;
}

function openWorkspace(context: AppContext, config: WorkspaceConfig, { attempts, state }: Opened) {
  const { redis, keys, guard, clock, log, measure, unfinished } = context;
  const { name, baseUrl, token, fetchPage, budget: limits, lists, todos, timeZone, history } = config;
  const watch = todos.watch && lists.todo.enabled ? { timeZone, dueSoonMs: todos.dueSoon } : null;
  const schedule = createScheduleStore(redis, keys, name);
  // Without Redis, the lists find out by their next sweeps.
  const ended = (): void => void failures.recovered().catch(() => undefined);
  const outages = apiOutages(config, { log, clock, ended });
  const of = { workspace: name, log, clock };
  const failures = createFailureLog({ ...of, lists: enabledLists(config), schedule, outages });
  const sweepLog = createSweepLog(of);
  const alive = new Map<ListName, () => void>();
  const asked = new AskedLists(clock);
  const scope = { redis, keys, workspace: name };
  const budget = createSharedBudget({ window: createBudgetWindow(scope), limits, clock });
  const api = openReadApi({
    ...{ ...of, baseUrl, token, fetchPage, budget, outages },
    lists: Object.values(lists).map(({ descriptor }) => descriptor),
    observe(tried) {
      log.debug({ workspace: name, ...tried }, 'request');
      measure.tried(name, tried);
      sweepLog.tried(tried);
      alive.get(tried.list)?.();
      asked.asked(tried.list);
      // When Redis is away this fails; the end of the sweep then records the failure.
      failures.tried(tried).catch(() => undefined);
    },
    ...(attempts !== undefined && { attempts }),
  });
  const ruled = listsWithRules(config, watch);
  const store = createSweepStore(redis, keys, name, { guard, history: history && { ...history, clock }, timeZone });
  const aims = createAimQueue(scope);
  const named = { ...of, lists: polledLists(lists), queue: aims };
  const actors = createActors({ ...named, credits: createCreditStore(scope), apartMs: api.clockApartMs });
  const written = { actors, unfinished, onEvents: afterCommit(context, named) };
  return {
    ...{ name, config, state, api },
    /** Shared by all processes. */
    budget,
    store,
    aims,
    shortcuts: shortcutsOf(config, ruled, { store, queue: aims, log, aheadMs: () => clock.now() - clock.monotonic() }),
    feed: { ...of, source: sourceOf(config), api, store, ...written },
    schedule,
    failures,
    sweepLog,
    outages,
    /** Called at every answer of the API about a list that a loop sweeps. */
    alive,
    /** As far as this process polls. */
    asked,
    edits: actors.edits,
    surroundings: surroundings(config, {
      ...{ store, ruled, scope, people: context.config.people, pageUrl: context.config.http.publicUrl },
    }),
    /** Also those that are not polled. */
    lists: ruled,
    /** `watch` is null when the due times of todos are not watched. */
    todos: { workspace: name, watch, store: createTodoStore(redis, keys, name, { guard, timeZone }) },
  };
}

/** What the stored records belong to: another one may show other records. */
function sourceOf({ name, baseUrl }: WorkspaceConfig): string {
  return baseUrl === undefined ? `fetchPage:${name}` : normaliseBaseUrl(baseUrl);
}

/** What is in the log is counted, and the records that it names are queued. */
function afterCommit({ measure }: AppContext, named: NamedOptions) {
  return (events: readonly ChangeEvent[]): void => {
    measure.logged(named.workspace, events);
    // Nothing waits for it: it is only a hint.
    void queueNamed(events, named);
  };
}

function listsWithRules({ lists, budget, timeZone }: WorkspaceConfig, watch: TodoWatch | null) {
  const all = Object.values(lists).map(({ baseline, ...list }) => ({
    ...list,
    // A person wrote it, perhaps without a zone. That it is a time was checked.
    baseline: typeof baseline === 'object' ? { since: isoTime(readTime(baseline.since, timeZone) ?? 0) } : baseline,
    rules: compileRules(list.descriptor, list, watch),
  }));
  const inBackground = all.filter(({ enabled, rules }) => enabled && rules.list.recognisedOnly).length;
  const walksPerSecond = (BACKGROUND_PART * budget.requests) / budget.perSeconds / inBackground;
  return new Map<ListName, ListWithRules>(
    all.map((list) => [list.descriptor.name, { ...list, ...(list.descriptor.recognisedOnly && { walksPerSecond }) }]),
  );
}

function shortcutsOf(
  { name: workspace, budget }: WorkspaceConfig,
  lists: ReadonlyMap<ListName, ListWithRules>,
  deps: { store: SweepStore; queue: AimQueue; log: Log; aheadMs: () => number },
) {
  const requestsPerSecond = budget.requests / budget.perSeconds;
  const about = { ...deps, workspace, requestsPerSecond };
  const enabled = [...lists].filter(([, list]) => list.enabled);
  return new Map<ListName, Shortcuts>(
    enabled.map(([list, { descriptor, intervalMs }]) => {
      const kind = { hasOpen: descriptor.open !== undefined, namesOnly: descriptor.recognisedOnly };
      return [list, new ListShortcuts({ ...about, ...kind, list, intervalMs })];
    }),
  );
}

/** The next try may succeed. */
const OUTAGE = { failures: 3, lastsMs: 2_000 };

function apiOutages(
  { name, baseUrl, fetchPage }: WorkspaceConfig,
  process: Pick<AppContext, 'log' | 'clock'> & { ended: () => void },
): ApiOutages {
  const api = fetchPage !== undefined || baseUrl === undefined ? 'fetchPage' : new URL(baseUrl).host;
  const shared = { facts: { workspace: name, api }, threshold: OUTAGE, ...process };
  return {
    away: new Episode({
      begins: 'the API went away: it does not answer, or only with errors',
      ends: 'the API is back',
      level: 'warn',
      ...shared,
    }),
    refused: new Episode({
      begins: 'the API refuses the token, or there is none: give the workspace the newest one',
      ends: 'the API accepts the token again',
      ...shared,
    }),
  };
}
