/** Each kind of value that Changefeed reads back, damaged in a real Redis. */
import { describe, expect, it } from 'vitest';
import { compileRules } from '../../src/detect/rules.js';
import { systemClock } from '../../src/runtime/clock.js';
import { silentLog } from '../../src/runtime/log.js';
import { createBackfillStore } from '../../src/state/backfills.js';
import { createLogReader } from '../../src/state/event-log.js';
import { createRecordGate } from '../../src/state/gate.js';
import { createHealthStore } from '../../src/state/health.js';
import { createMirrorStore } from '../../src/state/mirror-store.js';
import { createNoticeStore } from '../../src/state/notices.js';
import { createOffsetStore } from '../../src/state/offsets.js';
import { createProcessRegistry } from '../../src/state/process-registry.js';
import { trimLog } from '../../src/state/retention.js';
import { createScheduleStore } from '../../src/state/schedule.js';
import { createSnapshotSource } from '../../src/state/snapshot-source.js';
import { createStateGuard, readState } from '../../src/state/state-guard.js';
import { createSweepStore } from '../../src/state/sweep-store.js';
import { createTodoStore } from '../../src/state/todo-store.js';
import { dumpOf } from '../support/dump.js';
import { people } from '../support/people-rows.js';
import { listedApi } from '../support/listed.js';
import { useRedis, type TestRedis } from '../support/redis.js';
import { sweptList } from '../support/swept-list.js';

const SECRET = 'contents-of-a-record';

const sweeps = ({ redis, keys }: TestRedis) => createSweepStore(redis, keys, 'acme');
const todos = ({ redis, keys }: TestRedis) => createTodoStore(redis, keys, 'acme');
const reader = (test: TestRedis) =>
  createLogReader({ redis: test.redis, keys: test.keys, connect: () => test.connect() });
const trim = ({ redis, keys }: TestRedis) =>
  trimLog(redis, keys, {
    workspace: 'acme',
    retention: { ageMs: 1, events: 1 },
    readers: [],
    nowMs: Date.parse('2026-03-01T00:00:00.000Z'),
    disabled: [],
  });
const snapshots = ({ redis, keys }: TestRedis) =>
  createSnapshotSource({
    redis,
    keys,
    clock: systemClock,
    list: () => ({ enabled: true, images: true, rules: compileRules('todo') }),
  });
type Place = { key: string; field?: string; score?: number };
type Damage = [what: string, stored: (keys: TestRedis['keys']) => Place, read: (test: TestRedis) => Promise<unknown>];

/** A field of the sweep hash of the list `todo`. */
const ofSweep =
  (field: string) =>
  (keys: TestRedis['keys']): Place => ({ key: keys.sweep('acme', 'todo'), field });
const aRecord = (keys: TestRedis['keys']): Place => ({ key: keys.records('acme', 'todo'), field: 't1' });
const anOffset = (keys: TestRedis['keys']): Place => ({ key: keys.offsets('ops'), field: 'acme' });
const mirror = ({ redis, keys }: TestRedis) => createMirrorStore(redis, keys, 'acme');
const schedule = ({ redis, keys }: TestRedis) => createScheduleStore(redis, keys, 'acme');
const guard = ({ redis, keys }: TestRedis) => createStateGuard({ redis, keys, clock: systemClock, log: silentLog });
const notices = ({ redis, keys }: TestRedis) => createNoticeStore(redis, keys);
const listed = async ({ redis, keys }: TestRedis) => {
  await redis.sadd(keys.processes(), 'one');
  return await createProcessRegistry(redis, keys).list();
};
const trimmed = async (test: TestRedis) => {
  await test.redis.hset(test.keys.readers('acme'), 'ops', 0);
  return await trim(test);
};

/** Read as JSON: no JSON, JSON of another form, and JSON of another version all have to be refused. */
const JSON_VALUES: Damage[] = [
  ['checkpoint', ofSweep('checkpoint'), (test) => sweeps(test).load('todo')],
  ['summary', ofSweep('lastSweep'), (test) => sweeps(test).load('todo')],
  ['summary, for accept', ofSweep('lastSweep'), (test) => sweeps(test).acceptHeld('todo')],
  ['summary, for the mirror', ofSweep('lastSweep'), (test) => mirror(test).status('todo')],
  ['summary, for a snapshot', ofSweep('lastSweep'), (test) => snapshots(test).scan('acme', 'todo', null)],
  ['failure of a list', ofSweep('failure'), (test) => schedule(test).times('todo')],
  ['failure of a list that is over', ofSweep('failure'), (test) => schedule(test).clearFailure('todo')],
  [
    'missing record',
    (keys) => ({ key: keys.missing('acme', 'todo'), field: 't1' }),
    (test) => sweeps(test).membership('todo'),
  ],
  ['way in which todos are watched', ofSweep('watchedAs'), (test) => todos(test).watchedAs()],
  [
    'task of a backfill',
    (keys) => ({ key: keys.backfills('ops'), field: 'replay 1 acme' }),
    ({ redis, keys }) => createBackfillStore(redis, keys).tasks('ops'),
  ],
  ['id of the state', (keys) => ({ key: keys.state('acme') }), ({ redis, keys }) => readState(redis, keys, 'acme')],
  ['id of the state, for a sweep', (keys) => ({ key: keys.state('acme') }), (test) => guard(test).check('acme')],
  ['report of a process', (keys) => ({ key: keys.process('one') }), listed],
];

const OTHER_VALUES: Damage[] = [
  ...JSON_VALUES,
  ['stored record', aRecord, (test) => sweeps(test).records('todo', ['t1'])],
  ['stored record, for the mirror', aRecord, (test) => mirror(test).images('todo', ['t1'])],
  ['stored record, for a snapshot', aRecord, (test) => snapshots(test).scan('acme', 'todo', null)],
  ['stored todo', aRecord, (test) => todos(test).todos(['t1'])],
  ['stored todo, for the report', aRecord, (test) => todos(test).everyTodo()[Symbol.asyncIterator]().next()],
  [
    'page of members',
    (keys) => ({ key: keys.members('acme', 'todo'), field: '1' }),
    (test) => sweeps(test).members('todo', 1),
  ],
  [
    'page of members, for removals',
    (keys) => ({ key: keys.walkMembers('acme', 'todo'), field: '1' }),
    (test) => sweeps(test).membership('todo'),
  ],
  ['time of the baseline', ofSweep('baselineAt'), (test) => sweeps(test).load('todo')],
  ['time of an acceptance', ofSweep('acceptedAt'), (test) => sweeps(test).acceptedAt('todo')],
  ['counter of the schema', ofSweep('schema rows'), (test) => sweeps(test).schema('todo')],
  ['counter of schema events', ofSweep('schemaEvents 이름'), (test) => sweeps(test).schemaSequences('todo', ['이름'])],
  [
    'timer of a todo',
    (keys) => ({ key: keys.due('acme'), score: 1 }),
    (test) => todos(test).due(2, { offset: 0, count: 1 }),
  ],
  ['offset', anOffset, ({ redis, keys }) => createOffsetStore(redis, keys).get('acme', 'ops')],
  ['offset, for retention', anOffset, trimmed],
  ['mark of an unconfigured subscription', (keys) => ({ key: keys.readers('acme'), field: 'ops' }), trim],
  [
    'event that is stored with its ordering group',
    (keys) => ({ key: keys.payloads('ops'), field: 'evt_1' }),
    ({ redis, keys }) => createRecordGate(redis, keys).stored('ops', 'evt_1'),
  ],
  [
    'health of a subscription',
    (keys) => ({ key: keys.health('ops'), field: 'disabledAt' }),
    ({ redis, keys }) => createHealthStore(redis, keys).read('ops'),
  ],
  [
    'notice',
    (keys) => ({ key: keys.notices('acme'), field: 'open list.late list:todo' }),
    (test) => notices(test).endUnseen('acme', { sinceMs: 1, nowMs: 1 }),
  ],
];

/** What the caller gets, with everything in Redis before and after. */
async function refused(test: TestRedis, [, stored, read]: Damage, value: string) {
  const { key, field, score } = stored(test.keys);
  if (score !== undefined) await test.redis.zadd(key, score, value);
  else if (field === undefined) await test.redis.set(key, value);
  else await test.redis.hset(key, field, value);
  const error: unknown = await read(test).catch((thrown: unknown) => thrown);
  return { error, key, logged: await test.redis.xlen(test.keys.log('acme')) };
}

const refusal = (key: string): unknown =>
  expect.objectContaining({
    code: 'CF_STATE_UNREADABLE',
    message: expect.stringContaining(`Redis key "${key}"`) as string,
    facts: expect.objectContaining({ key }) as unknown,
  });

describe('a damaged value in Redis', () => {
  const test = useRedis();

  it.each(OTHER_VALUES)(
    'unreadable: a damaged %s is refused with the name of its key, and not shown',
    async (...damage) => {
      const { error, key, logged } = await refused(test, damage, SECRET);
      expect(error).toEqual(refusal(key));
      expect(String(error)).not.toContain(SECRET);
      expect(logged).toBe(0);
    },
  );

  it.each(JSON_VALUES)('unreadable: a %s of another form is refused', async (...damage) => {
    const { error, key } = await refused(test, damage, JSON.stringify({ [SECRET]: SECRET }));
    expect(error).toEqual(refusal(key));
    expect(String(error)).not.toContain(SECRET);
  });

  it('unreadable: a checkpoint of another version says so', async () => {
    const { error } = await refused(test, JSON_VALUES[0]!, JSON.stringify({ version: 99 }));
    expect(String(error)).toContain('found format version 99, written by another release');
  });

  it.each([SECRET, '{}', JSON.stringify({ id: 'evt_1', data: SECRET }), 'null'])(
    'unreadable: an entry of the log that is not an event is refused: %s',
    async (json) => {
      const id = await test.redis.xadd(test.keys.log('acme'), '*', 'event', json);
      const reads = [() => reader(test).read('acme', '0', 1), () => sweeps(test).recentEvents(0, 1)];
      for (const read of reads) {
        const error: unknown = await read().catch((thrown: unknown) => thrown);
        expect(error).toEqual(refusal(test.keys.log('acme')));
        expect(String(error)).toContain(`"${id!}"`);
        expect(String(error)).not.toContain(SECRET);
      }
    },
  );

  it('unreadable: a state with bytes that are no text is refused, and not compared for ever', async () => {
    const states = guard(test);
    await states.check('acme');
    const key = test.keys.state('acme');
    const state = Buffer.from((await test.redis.get(key))!.replace('}', ',"server":"?"}'));
    state[state.lastIndexOf('?')] = 0x80;
    await test.redis.set(key, state);
    const stored = (await test.redis.get(key))!;
    await expect(states.epochOn('acme', stored, 'another')).rejects.toEqual(refusal(key));
    await expect(states.check('acme')).rejects.toEqual(refusal(key));
  });

  it('unreadable: a staged event of a snapshot is refused', async () => {
    await test.redis.rpush(test.keys.staged('ops', 'acme'), SECRET);
    const error: unknown = await createBackfillStore(test.redis, test.keys)
      .staged('ops', 'acme')
      .catch((e: unknown) => e);
    expect(error).toEqual(refusal(test.keys.staged('ops', 'acme')));
  });

  it.each<[string, (keys: TestRedis['keys']) => [key: string, field: string]]>([
    ['stored record', (keys) => [keys.records('acme', 'people'), 'p000']],
    ['summary', (keys) => [keys.sweep('acme', 'people'), 'lastSweep']],
    ['page of members', (keys) => [keys.members('acme', 'people'), '1']],
  ])('unreadable: a sweep that needs a damaged %s ends without writing anything', async (_what, stored) => {
    const api = listedApi(people(2));
    const { sweep, events } = sweptList(test, api);
    await sweep();
    const [key, field] = stored(test.keys);
    await test.redis.hset(key, field, SECRET);
    const before = await dumpOf(test.redis, test.keys.prefix);
    api.records = people(1, () => ({ 등급: 'B' }));
    const error = (await sweep().catch((thrown: unknown) => thrown)) as Error;
    expect([error, error.cause]).toContainEqual(refusal(key));
    expect(await dumpOf(test.redis, test.keys.prefix)).toEqual(before);
    expect(await events()).toEqual([]);
  });
});
