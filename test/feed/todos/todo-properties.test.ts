import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createTodoStore } from '../../../src/feed/todos/todo-store.js';
import { fireDue } from '../../../src/feed/todos/fire.js';
import { miscounted } from '../../support/day-counts.js';
import { listedApi } from '../../support/listed.js';
import { useRedis, type TestRedis } from '../../support/redis.js';
import { sweptList, type SweptList } from '../../support/swept-list.js';
import { SPELLINGS, type Spelling } from '../../support/todos.js';

const HOUR_MS = 3_600_000;
const watch = { timeZone: 'Asia/Seoul', dueSoonMs: 24 * HOUR_MS };

const step = fc.record({
  todo: fc.constantFrom('a', 'b', 'c', 'd'),
  act: fc.constantFrom('complete', 'reopen', 'move', 'assign', 'remove', 'add', 'nothing'),
  dueIn: fc.option(fc.integer({ min: -40, max: 80 })),
  hours: fc.constantFrom(0.1, 1, 20, 50),
  fires: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Todo {
  done: boolean;
  due: string | null;
  owner: { id: string; name: string };
  changes: number;
  /** Types emitted since it was last opened or rescheduled. Each type is expected once. */
  emitted: string[];
}

/** A random history of a few todos, swept after each step, and an independent model of the expected events. */
class History {
  readonly api = listedApi();
  readonly list: SweptList;
  readonly todos = new Map<string, Todo>();
  readonly start: number;
  #seen = 0;
  #changes = 0;
  readonly #removed = new Set<string>();

  constructor(
    readonly redis: TestRedis,
    readonly spelling: Spelling,
  ) {
    this.list = sweptList(redis, this.api, 'todo');
    this.start = this.list.clock.now();
  }

  async sweep(hours: number): Promise<void> {
    this.api.records = [...this.todos].map(([id, { changes, ...said }]) =>
      this.spelling(id, { ...said, stamp: new Date(this.start + changes * 1_000 + 1).toISOString() }),
    );
    await this.list.sweep({ watch, minutesLater: hours * 60 });
  }

  async fire(): Promise<void> {
    const store = createTodoStore(this.redis.redis, this.redis.keys, 'acme');
    await fireDue({ workspace: 'acme', store, clock: this.list.clock });
  }

  async newEvents(): Promise<string[]> {
    const events = (await this.list.events()).slice(this.#seen);
    this.#seen += events.length;
    for (const { type, subject, data } of events.filter(({ data }) => data.detectedBy === 'clock')) {
      const todo = this.todos.get(subject);
      expect(todo, `${type} of a removed todo`).toBeDefined();
      expect(todo?.done, `${type} of a completed todo`).toBe(false);
      expect(data.due, `${type} with another due time`).toBe(todo?.due);
      expect(todo?.emitted, `${type} emitted twice`).not.toContain(type);
      todo?.emitted.push(type);
    }
    return events.map(({ type, subject }) => `${type.slice('crm.todo.'.length)} ${subject}`);
  }

  act({ todo: id, act, dueIn }: Step): string[] {
    const todo = this.todos.get(id);
    const due = dueIn === null ? null : new Date(this.list.clock.now() + dueIn * HOUR_MS + 1).toISOString();
    if (todo === undefined) {
      // A removed todo does not come back: within a sweep or two it would only have been missing.
      if (act !== 'add' || this.#removed.has(id)) return [];
      this.todos.set(id, { done: false, due, owner: { id: 'u0', name: 'u0' }, changes: ++this.#changes, emitted: [] });
      return [`created ${id}`];
    }
    if (act === 'remove') {
      this.todos.delete(id);
      this.#removed.add(id);
      return [];
    }
    if ((act === 'complete') === todo.done && (act === 'complete' || act === 'reopen')) return [];
    todo.changes = ++this.#changes;
    if (act === 'complete' || act === 'reopen') {
      Object.assign(todo, { done: act === 'complete', emitted: [] });
      return [`updated ${id}`, `${act === 'complete' ? 'completed' : 'reopened'} ${id}`];
    }
    if (act === 'move' && due !== todo.due) {
      Object.assign(todo, { due, emitted: [] });
      return [`updated ${id}`, `rescheduled ${id}`];
    }
    if (act !== 'assign') return [];
    todo.owner = { id: `u${this.#changes}`, name: 'another' };
    return [`updated ${id}`, `reassigned ${id}`];
  }
}

const redis = useRedis();

it.each(SPELLINGS)(
  'todos: random histories of todos in %s fields yield exactly the expected events',
  async (_how, todo) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        await redis.redis.unlink(...(await redis.redis.keys(`${redis.keys.prefix}:*`)), 'none');
        const history = new History(redis, todo);
        await history.sweep(0);
        for (const one of steps) {
          const expected = history.act(one);
          await history.sweep(one.hours);
          if (one.fires) await history.fire();
          const found = await history.newEvents();
          expect(found.filter((line) => !/^(due_soon|overdue|deleted) /.test(line))).toEqual(expected);
        }
        await history.sweep(200);
        await history.fire();
        await history.newEvents();
        const open = [...history.todos.values()].filter(({ done, due }) => !done && due !== null);
        for (const { emitted } of open) expect(emitted).toContain('crm.todo.overdue');
        expect(await miscounted(redis), 'the days count what the log has').toEqual([]);
      }),
      { numRuns: 30 },
    );
  },
  60_000,
);
