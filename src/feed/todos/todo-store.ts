/** The timers of todos and their stored records, for the todo monitor. */
import { randomUUID } from 'node:crypto';
import type { StoredRecord } from '../detect/stored-record.js';
import { todoWatchSchema, type TodoWatch } from '../detect/rules.js';
import { TIMER_KINDS, type TimerChange, type TimerKind } from '../detect/watch-todo.js';
import { describe } from '../../kit/errors.js';
import type { ChangeEvent } from '../../events/types.js';
import { countArguments, KEPT_MS } from '../../log/day-counts.js';
import { entryArguments } from '../../log/entry.js';
import type { StateGuard } from '../../log/state-guard.js';
import type { Redis } from '../../redis/client.js';
import { type Keys, type WorkspaceRedis, recordField } from '../../redis/keys.js';
import { loadScript, unexpectedAnswer, words } from '../../redis/scripts.js';
import { readJson, unreadable } from '../../redis/stored.js';
import { recordsIn, unpackAll } from '../store/stored-records.js';
import { loadSweep } from '../store/sweep-store.js';

const fireTimer = loadScript('fire-timer', import.meta.url);
const setTimers = loadScript('set-timers', import.meta.url);

const SCAN_COUNT = 500;
const NOTHING = Buffer.alloc(0);

/** The time at which a todo becomes due soon or overdue. It is stored and removed together with the todo. */
export interface Timer {
  readonly kind: TimerKind;
  readonly key: string;
  readonly atMs: number;
}

/** Ms since the epoch; null: no timer of this kind. */
export type TimerTimes = Readonly<Record<TimerKind, number | null>>;

/** `version` is different after every change of what is stored about the todo. */
export interface StoredTodo {
  readonly known: StoredRecord;
  readonly version: Buffer;
}

export type TodoStore = ReturnType<typeof createTodoStore>;

interface TodoStoreOptions {
  /** Notices the loss of a timer's event. @defaultValue none is noticed */
  guard?: Pick<StateGuard, 'steps'>;
  /** In which days are counted. @defaultValue 'UTC' */
  timeZone?: string;
}

export function createTodoStore(
  redis: Redis,
  keys: Keys,
  workspace: string,
  { guard, timeZone = 'UTC' }: TodoStoreOptions = {},
) {
  const scope = { redis, keys, workspace };
  const due = keys.due(workspace);
  const records = keys.records(workspace, 'todo');
  const sweep = keys.sweep(workspace, 'todo');
  const notices = keys.notices(workspace);
  const [log, missing, state] = [keys.log(workspace), keys.missing(workspace, 'todo'), keys.state(workspace)];
  return {
    lastSweep: async () => (await loadSweep(scope, 'todo')).state.lastSweep,
    /** The timers up to and including this time, the earliest first. */
    async due(upToMs: number, { offset, count }: { offset: number; count: number }): Promise<Timer[]> {
      return timersFrom(due, await redis.zrangebyscore(due, '-inf', upToMs, 'WITHSCORES', 'LIMIT', offset, count));
    },
    /** The time of the earliest timer after this time; null when there is none. */
    async nextAfter(ms: number): Promise<number | null> {
      const [next] = timersFrom(due, await redis.zrangebyscore(due, `(${ms}`, '+inf', 'WITHSCORES', 'LIMIT', 0, 1));
      return next?.atMs ?? null;
    },
    async todos(wanted: readonly string[]): Promise<(StoredTodo | null)[]> {
      const packed = wanted.length === 0 ? [] : await redis.hmgetBuffer(records, ...wanted.map(recordField));
      const stored = packed.flatMap((bytes, at) => (bytes === null ? [] : [[wanted[at] ?? '', bytes] as const]));
      const todos = new Map(storedTodos(scope, stored));
      return wanted.map((key) => todos.get(key) ?? null);
    },
    times: (wanted: readonly string[]) => readTimes(redis, due, wanted),
    /** `moved`: timer or todo changed since. `waits`: the todo is missing, or undecided. The timer stays in both. */
    async fire({ kind, key, atMs }: Timer, todo: StoredTodo | null, event: ChangeEvent | null) {
      const version = todo?.version ?? NOTHING;
      const steps = guard?.steps(workspace);
      const [day, counted] = countArguments(event, { keys, workspace, timeZone });
      const facts = [`${kind} ${key}`, atMs, key, recordField(key), version, randomUUID()];
      const args = [...facts, ...entryArguments(event), counted, KEPT_MS];
      // Without an event there is no day: any key of the slot stands in its place.
      const used = [due, records, log, missing, state, notices, day === '' ? notices : day];
      const [word, step = ''] = words(fireTimer, await fireTimer.run(redis, used, args));
      if (step !== '') steps?.set(notices, step);
      if (word === 'fired' || word === 'moved' || word === 'waits') return word;
      throw unexpectedAnswer(fireTimer, word);
    },
    /** The options by which all timers were last set; null when todos are not watched. */
    async watchedAs(): Promise<TodoWatch | null> {
      const text = await redis.hget(sweep, 'watchedAs');
      const at = { what: 'how todos are watched', key: sweep, field: 'watchedAs' } as const;
      return text === null ? null : readJson(todoWatchSchema, text, at);
    },
    async *everyTodo() {
      for await (const chunk of redis.hscanBufferStream(records, { count: SCAN_COUNT })) {
        yield storedTodos(scope, recordsIn(chunk as Buffer[]));
      }
    },
    /** Sets timers of a todo, unless the todo has changed since. */
    async set(key: string, { version }: StoredTodo, timers: readonly TimerChange[]): Promise<void> {
      const flat = timers.flatMap(({ kind, atMs }) => [`${kind} ${key}`, atMs ?? '']);
      await setTimers.run(redis, [due, records], [recordField(key), version, timers.length, ...flat]);
    },
    /** Records the options by which all timers are now set. Null: todos are not watched; the timers stay. */
    async watchAs(watch: TodoWatch | null): Promise<void> {
      if (watch !== null) await redis.hset(sweep, 'watchedAs', JSON.stringify(watch));
      else await redis.hdel(sweep, 'watchedAs');
    },
  };
}

async function readTimes(redis: Redis, due: string, keys: readonly string[]): Promise<TimerTimes[]> {
  const members = keys.flatMap((key) => TIMER_KINDS.map((kind) => `${kind} ${key}`));
  const scores = members.length === 0 ? [] : await redis.zmscore(due, ...members);
  const at = (index: number): number | null => (scores[index] == null ? null : Number(scores[index]));
  return keys.map((_key, index) => ({ due_soon: at(2 * index), overdue: at(2 * index + 1) }));
}

function storedTodos(
  scope: WorkspaceRedis,
  packed: readonly (readonly [key: string, version: Buffer])[],
): (readonly [key: string, todo: StoredTodo])[] {
  const records = unpackAll(scope, 'todo', packed);
  return records.map(([key, { digest: _, image, ...rest }], at) => [
    key,
    {
      version: packed[at]?.[1] ?? NOTHING,
      known: { ...rest, record: image === null ? null : (JSON.parse(image) as StoredRecord['record']) },
    },
  ]);
}

/** Members are `<kind> <key>`; no kind contains a space. */
function timersFrom(due: string, flat: readonly string[]): Timer[] {
  return flat.flatMap((member, index) => {
    if (index % 2 === 1) return [];
    const cut = member.indexOf(' ');
    const kind = TIMER_KINDS.find((one) => one === member.slice(0, cut));
    if (kind !== undefined) return [{ kind, key: member.slice(cut + 1), atMs: Number(flat[index + 1]) }];
    throw unreadable({ what: 'a timer of a todo', key: due }, describe(member));
  });
}
