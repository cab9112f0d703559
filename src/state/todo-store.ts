/** The timers of todos, and what is remembered of them, as the todo monitor needs it. */
import type { Redis } from 'ioredis';
import type { StoredRecord } from '../detect/known.js';
import type { TodoWatch } from '../detect/rules.js';
import type { TimerKind } from '../detect/watch.js';
import type { StoredTodo, Timer, TodoStore } from '../todos/store.js';
import { unexpectedAnswer, words } from './answer.js';
import type { Keys } from './keys.js';
import { unpackRecord } from './packing.js';
import { loadScript } from './scripts.js';
import { loadSweep } from './sweep-store.js';

const fireTimer = loadScript('fire-timer');
const setTimers = loadScript('set-timers');

const SCAN_COUNT = 500;
const NOTHING = Buffer.alloc(0);

export function createTodoStore(redis: Redis, keys: Keys, workspace: string): TodoStore {
  const due = keys.due(workspace);
  const records = keys.records(workspace, 'todo');
  const sweep = keys.sweep(workspace, 'todo');
  const touched = [due, records, keys.log(workspace), keys.members(workspace, 'todo'), keys.walk(workspace, 'todo')];
  return {
    lastSweep: async () => (await loadSweep(redis, keys, workspace, 'todo')).state.lastSweep,
    async due(upToMs, { offset, count }) {
      return timersFrom(await redis.zrangebyscore(due, '-inf', upToMs, 'WITHSCORES', 'LIMIT', offset, count));
    },
    async nextAfter(ms) {
      const [next] = timersFrom(await redis.zrangebyscore(due, `(${ms}`, '+inf', 'WITHSCORES', 'LIMIT', 0, 1));
      return next?.atMs ?? null;
    },
    async todos(wanted) {
      const packed = wanted.length === 0 ? [] : await redis.hmgetBuffer(records, ...wanted);
      return packed.map((bytes) => (bytes === null ? null : remembered(bytes)));
    },
    async fire({ kind, key, atMs }, todo, event) {
      const args = [`${kind} ${key}`, atMs, key, todo?.version ?? NOTHING, event === null ? '' : JSON.stringify(event)];
      const [word] = words(fireTimer, await fireTimer.run(redis, touched, args));
      if (word === 'fired' || word === 'moved' || word === 'waits') return word;
      throw unexpectedAnswer(fireTimer, word);
    },
    async watchedAs() {
      const text = await redis.hget(sweep, 'watchedAs');
      return text === null ? null : (JSON.parse(text) as TodoWatch);
    },
    async *everyTodo() {
      for await (const chunk of redis.hscanBufferStream(records, { count: SCAN_COUNT })) {
        const flat = chunk as Buffer[];
        const at = flat.flatMap((_, index) => (index % 2 === 0 ? [index] : []));
        yield at.map((index) => [String(flat[index]), remembered(flat[index + 1] ?? NOTHING)] as const);
      }
    },
    async set(key, { version }, timers) {
      const flat = timers.flatMap(({ kind, atMs }) => [`${kind} ${key}`, atMs ?? '']);
      await setTimers.run(redis, [due, records], [key, version, timers.length, ...flat]);
    },
    async watchAs(watch) {
      if (watch !== null) await redis.hset(sweep, 'watchedAs', JSON.stringify(watch));
      else await redis.multi().del(due).hdel(sweep, 'watchedAs').exec();
    },
  };
}

function remembered(version: Buffer): StoredTodo {
  const { digest: _, counted: _counted, image, ...memory } = unpackRecord(version);
  return {
    version,
    known: { ...memory, record: image === null ? null : (JSON.parse(image) as StoredRecord['record']) },
  };
}

/** Members are `<kind> <key>`; no kind has a space in it. */
function timersFrom(flat: readonly string[]): Timer[] {
  return flat.flatMap((member, index) => {
    if (index % 2 === 1) return [];
    const cut = member.indexOf(' ');
    return [{ kind: member.slice(0, cut) as TimerKind, key: member.slice(cut + 1), atMs: Number(flat[index + 1]) }];
  });
}
