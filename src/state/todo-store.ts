/** The timers of todos and their stored records, for the todo monitor. */
import type { StoredRecord } from '../detect/stored-record.js';
import { todoWatchSchema } from '../detect/rules.js';
import { TIMER_KINDS } from '../detect/watch-todo.js';
import { describe } from '../errors.js';
import type { Redis } from '../redis/client.js';
import type { StoredTodo, Timer, TimerTimes, TodoStore } from '../todos/store.js';
import { type Keys, type WorkspaceRedis, recordField } from './keys.js';
import { loadScript, unexpectedAnswer, words } from './scripts.js';
import { readJson, unreadable } from './stored.js';
import { recordsIn, unpackAll } from './stored-records.js';
import { loadSweep } from './sweep-store.js';

const fireTimer = loadScript('fire-timer');
const setTimers = loadScript('set-timers');

const SCAN_COUNT = 500;
const NOTHING = Buffer.alloc(0);

export function createTodoStore(redis: Redis, keys: Keys, workspace: string): TodoStore {
  const scope = { redis, keys, workspace };
  const due = keys.due(workspace);
  const records = keys.records(workspace, 'todo');
  const sweep = keys.sweep(workspace, 'todo');
  const touched = [due, records, keys.log(workspace), keys.missing(workspace, 'todo')];
  return {
    lastSweep: async () => (await loadSweep(scope, 'todo')).state.lastSweep,
    async due(upToMs, { offset, count }) {
      return timersFrom(due, await redis.zrangebyscore(due, '-inf', upToMs, 'WITHSCORES', 'LIMIT', offset, count));
    },
    async nextAfter(ms) {
      const [next] = timersFrom(due, await redis.zrangebyscore(due, `(${ms}`, '+inf', 'WITHSCORES', 'LIMIT', 0, 1));
      return next?.atMs ?? null;
    },
    async todos(wanted) {
      const packed = wanted.length === 0 ? [] : await redis.hmgetBuffer(records, ...wanted.map(recordField));
      const stored = packed.flatMap((bytes, at) => (bytes === null ? [] : [[wanted[at] ?? '', bytes] as const]));
      const todos = new Map(await storedTodos(scope, stored));
      return wanted.map((key) => todos.get(key) ?? null);
    },
    times: (wanted) => readTimes(redis, due, wanted),
    async fire({ kind, key, atMs }, todo, event) {
      const version = todo?.version ?? NOTHING;
      const json = event === null ? '' : JSON.stringify(event);
      const args = [`${kind} ${key}`, atMs, key, recordField(key), version, json];
      const [word] = words(fireTimer, await fireTimer.run(redis, touched, args));
      if (word === 'fired' || word === 'moved' || word === 'waits') return word;
      throw unexpectedAnswer(fireTimer, word);
    },
    async watchedAs() {
      const text = await redis.hget(sweep, 'watchedAs');
      const at = { what: 'how todos are watched', key: sweep, field: 'watchedAs' } as const;
      return text === null ? null : readJson(todoWatchSchema, text, at);
    },
    async *everyTodo() {
      for await (const chunk of redis.hscanBufferStream(records, { count: SCAN_COUNT })) {
        yield await storedTodos(scope, recordsIn(chunk as Buffer[]));
      }
    },
    async set(key, { version }, timers) {
      const flat = timers.flatMap(({ kind, atMs }) => [`${kind} ${key}`, atMs ?? '']);
      await setTimers.run(redis, [due, records], [recordField(key), version, timers.length, ...flat]);
    },
    async watchAs(watch) {
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

async function storedTodos(
  scope: WorkspaceRedis,
  packed: readonly (readonly [key: string, version: Buffer])[],
): Promise<(readonly [key: string, todo: StoredTodo])[]> {
  const records = await unpackAll(scope, 'todo', packed);
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
