import { expect, it } from 'vitest';
import { createMirrorStore } from '../../../src/ops/server/mirror/mirror-store.js';
import { fireDue } from '../../../src/feed/todos/fire.js';
import { reportTodos } from '../../../src/feed/todos/report.js';
import { createTodoStore } from '../../../src/feed/todos/todo-store.js';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { people, person } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { baselined } from '../../support/swept-list.js';
import { written } from '../../support/todos.js';

const redis = useRedis();

const watch = { timeZone: 'Asia/Seoul', dueSoonMs: 60_000 };
const HOUR_MS = 3_600_000;

/** 40 open todos, of which the CRM has removed 20. A person has discarded their held removals. */
async function discardedTodos() {
  const due = new Date(Date.now() + HOUR_MS).toISOString();
  const todos = (from: number, to: number): UncheckedRecord[] =>
    Array.from({ length: to - from }, (_, index) => written(`t${from + index}`, { due }));
  const list = await baselined(redis, todos(0, 40), { list: 'todo', watch });
  const show = (records: UncheckedRecord[], minutesLater = 1) => list.show(records, { watch, minutesLater });
  await show(todos(20, 40));
  await show(todos(20, 40));
  await list.store.discardHeld('todo');
  await show(todos(20, 40));
  const store = createTodoStore(redis.redis, redis.keys, 'acme');
  return {
    ...list,
    ...{ show, todos, due },
    fire: async () => await fireDue({ workspace: 'acme', store, clock: list.clock }),
    discarded: async () => await redis.redis.hget(redis.keys.sweep('acme', 'todo'), 'discarded'),
    open: async () => {
      const deps = [{ name: 'acme', timeZone: 'Asia/Seoul', enabled: true, store }];
      const { workspaces } = await reportTodos(deps, {}, list.clock);
      return workspaces[0]?.total.open;
    },
  };
}

it('state of a record: a discarded removal leaves the list: no timer fires, no count and no mirror shows it, and it is counted', async () => {
  const { show, todos, fire, open, discarded, events } = await discardedTodos();
  expect([await open(), await discarded()]).toEqual([20, '20']);
  const mirrored = await createMirrorStore(redis.redis, redis.keys, 'acme').keys('todo');
  expect(mirrored.sort()).toEqual(
    todos(20, 40)
      .map(({ id }) => String(id))
      .sort(),
  );
  await show(todos(20, 40), 120);
  // Due soon and overdue.
  expect(await fire()).toBe(2 * 20);
  expect((await events()).filter(({ subject }) => Number(subject.slice(1)) < 20)).toEqual([]);
});

it('state of a record: a discarded record that is shown again is compared with what receivers have, and gets its timers', async () => {
  const { show, todos, due, fire, open, discarded, eventLines } = await discardedTodos();
  await show([written('t0', { due, owner: { id: 'u1', name: '가나' } }), ...todos(1, 40)]);
  expect(await eventLines()).toEqual(['updated t0 1', 'reassigned t0 1']);
  expect([await open(), await discarded()]).toEqual([40, null]);
  await show(todos(0, 40), 120);
  expect(await fire()).toBe(2 * 40);
});

it('state of a record: what was discarded can no longer be accepted, and the refusal says so', async () => {
  const { show, store, eventLines } = await baselined(redis, people(40));
  await show(people(20));
  await show(people(20));
  await store.discardHeld('people');
  await expect(store.acceptHeld('people')).rejects.toMatchObject({
    code: 'CF_USAGE',
    message:
      'List "people": what is held has been discarded, which the next complete sweep carries out. It can no longer be accepted.',
  });
  await show(people(20));
  expect(await store.acceptHeld('people')).toEqual([]);
  expect(await eventLines()).toEqual([]);
});

it('state of a record: discarded creations are stored without events, but for records that receivers were told of', async () => {
  const removals = { confirm: 1, afterMs: 0, maxShare: 1, maxCount: 1_000 };
  const { show, store, eventLines } = await baselined(redis, people(21), { pageSize: 7 });
  await show(people(20), { removals });
  await show([...people(150, 'new'), ...people(20), person('p20', 'is back')], { minutesLater: 20 });
  const [named = null] = await store.heldNew('people');
  expect(named).toEqual({ id: 'new0', title: 'new0' });
  await store.discardHeld('people');
  const shown = [...people(150, 'new'), ...people(20), person('p20', 'is back')];
  await show(shown);
  expect(await eventLines()).toEqual(['deleted p20 1', 'created p20 2']);
  const discarded = async () => await redis.redis.hget(redis.keys.sweep('acme', 'people'), 'discarded');
  expect([await discarded(), await store.heldNew('people')]).toEqual(['150', []]);
  await show([person('new0', 'edited'), ...shown.slice(1)]);
  expect([(await eventLines()).at(-1), await discarded()]).toEqual(['updated new0 1', '149']);
});
