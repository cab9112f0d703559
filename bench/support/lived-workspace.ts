/**
 * A workspace of the sandbox that changes while it is read within a budget, and how late a reader notices each change. Two readers: a whole
 * Changefeed, and a walk of all lists in turns without end.
 *
 * Sizes are scaled, budget and latency are not: a list takes proportionally less time, and so does the plain walk (W) that delays are
 * compared with. Pauses of seconds, such as the interval of a tail, are not scaled, so the comparison is strict.
 */
import { isDeepStrictEqual } from 'node:util';
import { builtInLists, LIST_NAMES, type BuiltInList } from '../../src/crm/lists/lists.js';
import { systemClock } from '../../src/kit/clock.js';
import type { MutationLine } from '../../sandbox/journal/lines.js';
import type { SandboxOptions } from '../../sandbox/options.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';
import type { JudgedEvent } from '../../sandbox/verify/read.js';
import { scoreEvents } from '../../sandbox/verify/score.js';
import { readPage, type Target } from '../../test/support/read-api.js';
import { openFeed } from './feed.js';
import { withRedis } from './stage.js';
import { quantile, rounded } from './turns.js';

export interface World {
  /** The share of the full size: 100,000 people, 20,000 organizations, 50,000 todos, 200,000 history rows. */
  scale: number;
  budget: { requests: number; perSeconds: number };
  latencyMs: number;
  /** Mutations per second. */
  rate: number;
  /** How many plain walks long the workspace is read. */
  walks: number;
  /** Whether the history of people and organizations is polled. @defaultValue false */
  history?: boolean;
  /** The seed of the sandbox: the same records and the same changes. @defaultValue 1 */
  seed?: number;
}

/** When a reader noticed a change of a record. */
interface Noticed {
  list: string;
  id: string;
  at: number;
}

export interface Delays {
  count: number;
  /** Seconds. */
  p50: number;
  p95: number;
  p99: number;
  max: number;
}

export interface Freshness {
  /** People and organizations that a new or changed activity, memo, todo or history row names. */
  named: Delays;
  /** Those of them that a new row names. A changed row is mostly found by a walk, and only then does it name anything. */
  namedByNew: Delays;
  /** Edits of people and organizations. A row of their history names them, if it is polled. */
  edits: Delays;
  /** Todos that are completed. */
  completions: Delays;
  /** Reported edits of people and organizations whose event says rightly, wrongly or not at all who made them. */
  actors: Readonly<Record<string, number>> | null;
  /** New rows of activity, history, memo and todo. */
  created: Delays;
  createdOf: Readonly<Record<string, Delays>>;
  all: Delays;
  /** Changes that were not noticed until the end, of those that were older than one and a half plain walks. */
  unnoticed: number;
  requestsPerMinute: number;
}

export interface ReadWorld extends Freshness {
  /** A plain walk of all lists in the budget, in seconds. */
  walkSeconds: number;
}

const GROWING: ReadonlySet<string> = new Set(['activity', 'history', 'memo', 'todo']);
const CONTACTS: ReadonlySet<string> = new Set(['people', 'organization']);
const PAGE = 50;

/** What a reader noticed, and what its events say about who made it. */
interface Reading {
  noticed: Noticed[];
  actors: Freshness['actors'];
}

type Reader = (world: World, sandbox: Sandbox, run: Run) => Promise<Reading>;

interface Run {
  target: Target;
  /** To be called when the first reading is complete; resolves when the time is over. */
  live: () => Promise<void>;
  isOver: () => boolean;
}

export async function readWorld(world: World, reader: 'changefeed' | 'walk'): Promise<ReadWorld> {
  const sandbox = createSandbox({
    ...sizesOf(world),
    seed: world.seed ?? 1,
    start: Date.UTC(2026, 0, 1),
    limit: null,
    latencyMs: world.latencyMs,
    journalKeep: 5_000_000,
  });
  openTodos(sandbox);
  const { url, token } = await sandbox.start();
  const walkSeconds = (pagesOf(sandbox) * world.budget.perSeconds) / world.budget.requests;
  let [requestsPerMinute, over] = [0, false];
  const live = async (): Promise<void> => {
    const [startedAt, requests] = [systemClock.now(), sandbox.requests];
    sandbox.rate = world.rate;
    await systemClock.sleep(walkSeconds * world.walks * 1_000);
    sandbox.rate = 0;
    // Not later: judging a large workspace keeps the process busy for up to a minute.
    requestsPerMinute = Math.round(((sandbox.requests - requests) * 60_000) / (systemClock.now() - startedAt));
    over = true;
  };
  try {
    const run: Run = { target: { url, token }, live, isOver: () => over };
    const { noticed, actors } = await READERS[reader](world, sandbox, run);
    const freshness = freshnessOf(sandbox, noticed, systemClock.now() - walkSeconds * 1_500);
    return { walkSeconds: rounded(walkSeconds, 1), ...freshness, actors, requestsPerMinute };
  } finally {
    await sandbox.stop();
  }
}

/** A tenth of the todos are open: most of them the newest, due around now, and some older ones. */
function openTodos(sandbox: Sandbox): void {
  const { world } = sandbox;
  sandbox.behave({ historyRows: 'none' });
  const now = systemClock.now();
  const todos = world.order('todo').slice(0, Infinity);
  const newest = todos.length - Math.round(todos.length * 0.08);
  world.change('prepare', now, (draft) => {
    for (const todo of todos) {
      const isOpen = todo >= newest || todo % 46 === 0;
      const dueAt = now + ((todo % 60) - 30) * 60_000;
      const times = todo >= newest ? { startAt: dueAt - 900_000, endAt: dueAt } : {};
      draft.edit('todo', todo, ({ doneAt, createdAt }) => ({
        ...times,
        doneAt: isOpen ? null : (doneAt ?? createdAt + 60_000),
      }));
    }
  });
  sandbox.behave({ historyRows: 'true' });
}

function sizesOf({ scale, history = false }: World): SandboxOptions {
  const size = (records: number): number => Math.max(50, Math.round(records * scale));
  return {
    people: size(100_000),
    organizations: size(20_000),
    memos: size(5_000),
    todos: size(50_000),
    history: size(200_000),
    activity: size(5_000),
    ...(history && { lists: { people_history: size(200_000), organization_history: size(40_000) } }),
  };
}

function pagesOf(sandbox: Sandbox): number {
  return LIST_NAMES.reduce((sum, list) => sum + Math.max(1, Math.ceil(sandbox.world.order(list).length / PAGE)), 0);
}

const READERS: Readonly<Record<'changefeed' | 'walk', Reader>> = {
  changefeed: async ({ budget, history = false }, sandbox, { target, live }) =>
    await withRedis(async (_redis, redisUrl) => {
      const workspaces = [{ name: 'bench', baseUrl: target.url, token: target.token }];
      const options = history ? { lists: { people_history: true, organization_history: true } } : {};
      const feed = await openFeed({ redisUrl, workspaces, budget, options });
      try {
        await feed.start(['poll']);
        await firstSweeps(feed);
        await live();
        const noticed: Noticed[] = [];
        const events: JudgedEvent[] = [];
        for await (const { event } of feed.tail({ from: '0', follow: false })) {
          events.push(event);
          const list = builtInLists.byObject(event.type.split('.')[1] ?? '')?.name;
          if (list !== undefined && /\.(created|updated|deleted)$/.test(event.type))
            noticed.push({ list, id: event.subject, at: Date.parse(event.data.observedAt) });
        }
        const { actors } = scoreEvents({ journal: sandbox.journal.lines(), events });
        return { noticed, actors: { ...actors } };
      } finally {
        await feed.stop();
      }
    }),
  walk: async ({ budget }, _sandbox, { target, live, isOver }) => {
    const texts = new Map<string, string>();
    const noticed: Noticed[] = [];
    const pace = paced(budget);
    const walkAll = async (compare: boolean): Promise<void> => {
      for (const list of LIST_NAMES)
        for await (const page of walked(target, list, { pace, isOver })) {
          for (const record of page) {
            const [key, text] = [`${list} ${record.id}`, JSON.stringify(record)];
            if (compare && texts.get(key) !== text) noticed.push({ list, id: record.id, at: systemClock.now() });
            texts.set(key, text);
          }
        }
    };
    await walkAll(false);
    const living = live();
    while (!isOver()) await walkAll(true);
    await living;
    return { noticed, actors: null };
  },
};

/** Read by the service itself, as for its users: it learns while it reads. */
async function firstSweeps(feed: Awaited<ReturnType<typeof openFeed>>): Promise<void> {
  const isDone = async (): Promise<boolean> =>
    (await feed.status()).workspaces.every(({ lists }) => lists.every(({ baselineAt }) => baselineAt !== null));
  while (!(await isDone())) await systemClock.sleep(500);
}

async function* walked(
  target: Target,
  list: BuiltInList,
  { pace, isOver }: { pace: () => Promise<void>; isOver: () => boolean },
): AsyncGenerator<{ id: string }[]> {
  let cursor: string | null = null;
  do {
    if (isOver()) return;
    await pace();
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(target, list, cursor);
    yield page.records;
    cursor = page.nextCursor ?? null;
  } while (cursor !== null);
}

/** Evenly spaced, so that the walk uses the whole budget as long as answers are faster than its pace. */
function paced({ requests, perSeconds }: World['budget']): () => Promise<void> {
  let next = systemClock.now();
  return async () => {
    await systemClock.sleep(Math.max(0, next - systemClock.now()));
    next = Math.max(next, systemClock.now() - 1_000) + (perSeconds * 1_000) / requests;
  };
}

const READ: ReadonlySet<string> = new Set(LIST_NAMES);

function freshnessOf(sandbox: Sandbox, noticed: readonly Noticed[], mustBeNoticedBefore: number) {
  const lines = sandbox.journal.lines().filter((line): line is MutationLine => line.line === 'mutation');
  const rows = lines.filter(({ list }) => GROWING.has(list));
  const naming = textsOf(rows);
  const namingNew = textsOf(rows.filter(({ before }) => before === null));
  const times = new Map<string, Noticed[]>();
  for (const one of noticed) {
    const key = `${one.list} ${one.id}`;
    times.set(key, [...(times.get(key) ?? []), one]);
  }
  const delays: Record<'named' | 'namedByNew' | 'edits' | 'completions' | 'created' | 'all', number[]> = {
    ...{ named: [], namedByNew: [], edits: [], completions: [], created: [], all: [] },
  };
  const createdOf = new Map([...GROWING].map((list) => [list, [] as number[]]));
  let unnoticed = 0;
  for (const line of lines) {
    // Removals need two complete sweeps, which is another question.
    if (line.after === null || line.kind === 'prepare' || isTouched(line)) continue;
    // Their rows are not reported here: what they name is.
    if (!READ.has(line.list)) continue;
    const at = Date.parse(line.at);
    const seen = times.get(`${line.list} ${line.id}`)?.find((one) => one.at >= at);
    if (seen === undefined) {
      if (at < mustBeNoticedBefore) unnoticed += 1;
      continue;
    }
    const seconds = (seen.at - at) / 1_000;
    delays.all.push(seconds);
    if (line.kind === 'complete-todo' && line.list === 'todo') delays.completions.push(seconds);
    if (GROWING.has(line.list)) {
      if (line.before !== null) continue;
      delays.created.push(seconds);
      createdOf.get(line.list)?.push(seconds);
    } else {
      if (line.cause === 'direct' && line.before !== null && CONTACTS.has(line.list)) delays.edits.push(seconds);
      if (naming.get(line.mutation)?.includes(line.id) === true) delays.named.push(seconds);
      if (namingNew.get(line.mutation)?.includes(line.id) === true) delays.namedByNew.push(seconds);
    }
  }
  return {
    named: delaysOf(delays.named),
    namedByNew: delaysOf(delays.namedByNew),
    edits: delaysOf(delays.edits),
    completions: delaysOf(delays.completions),
    created: delaysOf(delays.created),
    createdOf: Object.fromEntries([...createdOf].map(([list, seconds]) => [list, delaysOf(seconds)])),
    all: delaysOf(delays.all),
    unnoticed,
  };
}

/** Nothing changed but the time of the change: no reader has to report it. */
function isTouched({ before, after }: MutationLine): boolean {
  return before !== null && after !== null && isDeepStrictEqual({ ...before, ...MOVED }, { ...after, ...MOVED });
}

const MOVED = { '수정 날짜': null, updatedAt: null };

/** What each mutation wrote into these rows. */
function textsOf(rows: readonly MutationLine[]): ReadonlyMap<MutationLine['mutation'], string> {
  const texts = new Map<MutationLine['mutation'], string>();
  for (const { mutation, after } of rows) texts.set(mutation, `${texts.get(mutation) ?? ''} ${JSON.stringify(after)}`);
  return texts;
}

function delaysOf(seconds: readonly number[]): Delays {
  const at = (share: number): number => rounded(quantile(seconds, share), 1);
  return { count: seconds.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}
