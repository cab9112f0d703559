/** Each kind of value that Changefeed reads back, damaged in a real Redis. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kit/clock.js';
import { silentLog } from '../../src/kit/log.js';
import { createBackfillStore } from '../../src/delivery/act/backfills.js';
import { createCreditStore } from '../../src/feed/store/credits.js';
import { recordField } from '../../src/redis/keys.js';
import { createLogReader } from '../../src/log/event-log.js';
import { createRecordGate } from '../../src/delivery/groups/gate.js';
import { createVerifiedStore } from '../../src/delivery/verify/verified-store.js';
import { createHealthStore } from '../../src/delivery/health.js';
import { createNoticeStore } from '../../src/log/notices.js';
import { createOffsetStore } from '../../src/delivery/offsets.js';
import { readRulesRecord } from '../../src/service/missing-rules.js';
import { trimLog } from '../../src/delivery/run/retention.js';
import { createScheduleStore } from '../../src/feed/store/schedule.js';
import { createStateGuard } from '../../src/log/state-guard.js';
import type { StoredAt } from '../../src/redis/stored.js';
import { createSweepStore } from '../../src/feed/store/sweep-store.js';
import { createTodoStore } from '../../src/feed/todos/todo-store.js';
import { createUnchangedStore } from '../../src/feed/unchanged/unchanged-store.js';
import { dumpOf } from '../support/dump.js';
import { createReceiptStore } from '../../src/delivery/receipts/receipts.js';
import { customers } from '../support/records.js';
import { listedApi } from '../support/listed.js';
import { useRedis, type TestRedis } from '../support/redis.js';
import { sweptList } from '../support/swept-list.js';

const SECRET = 'contents-of-a-record';

type KeyOf = (keys: TestRedis['keys']) => string;
type Read = () => Promise<unknown>;

const test = useRedis();
const scope = () => ({ redis: test.redis, keys: test.keys, workspace: 'acme' });
const sweeps = () => createSweepStore(test.redis, test.keys, 'acme');
const schedule = () => createScheduleStore(test.redis, test.keys, 'acme');
const todos = () => createTodoStore(test.redis, test.keys, 'acme');
const states = () => createStateGuard({ redis: test.redis, keys: test.keys, clock: systemClock, log: silentLog });
const gate = () => createRecordGate(test.redis, test.keys);
const backfills = () => createBackfillStore(test.redis, test.keys);
const readLog = () =>
  createLogReader({ redis: test.redis, keys: test.keys, connect: () => test.connect() }).read('acme', { limit: 1 });
const readHistory = async (): Promise<unknown> => {
  const [id = ''] = (await test.redis.xrange(test.keys.history('acme', 'todo'), '-', '+'))[0] ?? [];
  const place = Buffer.alloc(10);
  place.writeUIntBE(Number(id.split('-')[0]), 0, 6);
  await test.redis.hset(test.keys.changed('acme', 'todo'), 't1', place);
  return await (await sweeps().pastOf('todo', 't1')).record.pasts.next();
};
const endNotices = () => createNoticeStore(test.redis, test.keys).endUnseen('acme', { sinceMs: 2, nowMs: 2 });
const trim = () =>
  trimLog(test.redis, test.keys, {
    ...{ workspace: 'acme', retention: { ageMs: 1, events: 1 }, readers: [], paused: [] },
    nowMs: Date.parse('2026-03-01T00:00:00.000Z'),
  });
const after = async (prepared: Promise<unknown>, read: Read): Promise<unknown> => {
  await prepared;
  return await read();
};

const sweep: KeyOf = (of) => of.sweep('acme', 'todo');
const notices: KeyOf = (of) => of.notices('acme');
const OPEN = 'open list.late list:todo';

const KINDS: Record<StoredAt['what'], [key: KeyOf, place: string, ...reads: Read[]]> = {
  'what was last known of the rules': [
    (of) => of.rules(),
    'string',
    () => readRulesRecord({ ...test, clock: systemClock }),
  ],
  'the id of a state': [(of) => of.state('acme'), 'string', () => states().check('acme')],
  'an event of the log': [(of) => of.log('acme'), 'stream', () => readLog(), () => sweeps().recentEvents(0, 1)],
  'since when a subscription is unconfigured': [(of) => of.readers('acme'), 'ops', trim],
  'since when records are followed': [
    (of) => of.unchanged('acme'),
    'followed people [null,[]]',
    () => createUnchangedStore(scope()).read(),
  ],
  'a timer of a todo': [(of) => of.due('acme'), 'zset', () => todos().due(2, { offset: 0, count: 1 })],
  'rows of a history': [(of) => of.credits('acme'), 'todo t1', () => createCreditStore(scope()).of('todo', ['t1'])],
  'when a problem was last seen': [notices, OPEN, endNotices],
  'facts of a problem': [
    notices,
    'facts list.late list:todo',
    () => after(test.redis.hset(notices(test.keys), OPEN, 1), endNotices),
  ],
  'the checkpoint of a sweep': [sweep, 'checkpoint', () => sweeps().load('todo')],
  'the summary of the last complete sweep': [
    sweep,
    'lastSweep',
    () => sweeps().load('todo'),
    () => sweeps().acceptHeld('todo'),
  ],
  'fields that drifted': [sweep, 'drifted', () => sweeps().load('todo')],
  'why the last attempts to sweep a list failed': [
    sweep,
    'failure',
    () => schedule().times('todo'),
    () => schedule().clearFailure('todo'),
  ],
  'when the baseline was complete': [sweep, 'baselineAt', () => sweeps().load('todo')],
  'when a person accepted held records': [sweep, 'acceptedAt removals', () => sweeps().decided('todo')],
  'held new records': [sweep, 'heldExamples', () => sweeps().heldNew('todo')],
  'a count': [sweep, 'schema rows', () => sweeps().schema('todo')],
  'what shortcuts have learned': [sweep, 'learned', () => sweeps().learned('todo')],
  'how todos are watched': [sweep, 'watchedAs', () => todos().watchedAs()],
  'a page': [(of) => of.pages('acme', 'todo'), '1', () => sweeps().pages('todo', 1, 1)],
  'the members of a page': [(of) => of.members('acme', 'todo'), '1', () => sweeps().membership('todo')],
  'since when a record is missing': [(of) => of.missing('acme', 'todo'), 't1', () => sweeps().membership('todo')],
  'a stored record': [(of) => of.records('acme', 'todo'), 't1', () => sweeps().records('todo', ['t1'])],
  'a change of a history': [(of) => of.history('acme', 'todo'), 'stream', () => readHistory()],
  'an offset in the log': [
    (of) => of.offsets('ops'),
    'acme',
    () => createOffsetStore(test.redis, test.keys).get('acme', 'ops'),
    () => after(test.redis.hset(test.keys.readers('acme'), 'ops', 0), trim),
  ],
  'an entry of an ordering group': [
    (of) => of.group('ops', 'acme/t1'),
    'list',
    () => after(test.redis.zadd(test.keys.pending('ops', 'acme'), 1, 'evt_1'), () => gate().heads('ops', ['acme'])),
  ],
  'an event of an ordering group': [(of) => of.payloads('ops'), 'evt_1', () => gate().stored('ops', 'evt_1')],
  'the task of a snapshot or replay': [(of) => of.backfills('ops'), 'replay 1 acme', () => backfills().tasks('ops')],
  'an event of a snapshot': [(of) => of.staged('ops', 'acme'), 'list', () => backfills().staged('ops', 'acme')],
  'receipts of deliveries': [
    (of) => of.receipts('ops', 'acme'),
    'stream',
    () =>
      createReceiptStore(test.redis, test.keys)
        .search({ subscription: 'ops', workspace: 'acme' }, { sinceMs: 0 })
        .next(),
  ],
  'what was verified': [
    (of) => of.verified('ops', 'acme'),
    'string',
    () => createVerifiedStore(test.redis, test.keys).read('ops', 'acme'),
  ],
  'a number of the circuit breaker': [
    (of) => of.health('ops'),
    'disabledAt',
    () => createHealthStore(test.redis, test.keys).read('ops'),
  ],
};

async function damage(key: string, place: string, value: string): Promise<void> {
  if (place === 'string') await test.redis.set(key, value);
  else if (place === 'list') await test.redis.rpush(key, value);
  else if (place === 'zset') await test.redis.zadd(key, 1, value);
  else if (place === 'stream') await test.redis.xadd(key, '*', 'event', value);
  else await test.redis.hset(key, place, value);
}

const refusal = (key: string, says: string | RegExp = ''): unknown =>
  expect.objectContaining({
    code: 'CF_STATE_UNREADABLE',
    message: expect.stringMatching(says) as string,
    facts: expect.objectContaining({ key }) as unknown,
  });

describe.each(Object.entries(KINDS))('%s', (kind, [keyOf, place, ...reads]) => {
  it.each([SECRET, JSON.stringify({ [SECRET]: SECRET })])(
    'unreadable: a damaged value is refused with its key and a remedy, and not shown: %s',
    async (value) => {
      const key = keyOf(test.keys);
      await damage(key, place, value);
      for (const read of reads) {
        const error: unknown = await read().catch((thrown: unknown) => thrown);
        expect(error).toEqual(refusal(key, new RegExp(`: expected ${kind}, found .+ Nothing was written\\. .+\\.$`)));
        expect(String(error)).toContain(`Redis key "${key}"`);
        expect(String(error)).not.toMatch(new RegExp(`${SECRET}|undefined|\\{(remove|key|field)\\}`));
      }
    },
  );
});

it('unreadable: a checkpoint of another version says so', async () => {
  await test.redis.hset(sweep(test.keys), 'checkpoint', JSON.stringify({ version: 99 }));
  await expect(sweeps().load('todo')).rejects.toThrow('found format version 99, written by another release');
});

it('unreadable: the command that removes a stored record names its packed field', async () => {
  const [key, id] = [test.keys.records('acme', 'todo'), '0198f0aa-1c00-7a10-8f01-00000000a001'];
  await test.redis.hset(key, recordField(id), SECRET);
  await expect(sweeps().records('todo', [id])).rejects.toThrow(`(HDEL ${key} "\\x00\\x01\\x98\\xf0`);
});

it('unreadable: a state with bytes that are no text is refused, and not compared for ever', async () => {
  const guard = states();
  await guard.check('acme');
  const key = test.keys.state('acme');
  const state = Buffer.from((await test.redis.get(key))!.replace('"server":"', '"server":"?'));
  state[state.lastIndexOf('?')] = 0x80;
  await test.redis.set(key, state);
  await expect(guard.look('acme')).rejects.toEqual(refusal(key));
  await expect(guard.check('acme')).rejects.toEqual(refusal(key));
});

it.each<[string, KeyOf, string]>([
  ['stored record', (of) => of.records('acme', 'people'), 'p000'],
  ['summary', (of) => of.sweep('acme', 'people'), 'lastSweep'],
  ['page of members', (of) => of.members('acme', 'people'), '1'],
])('unreadable: a sweep that needs a damaged %s ends without writing anything', async (_what, keyOf, field) => {
  const api = listedApi(customers(2));
  const swept = sweptList(test, api);
  await swept.sweep();
  await damage(keyOf(test.keys), field, SECRET);
  const before = await dumpOf(test.redis, test.keys.prefix);
  api.records = customers(1, () => ({ 등급: 'B' }));
  const error = (await swept.sweep().catch((thrown: unknown) => thrown)) as Error;
  expect([error, error.cause]).toContainEqual(refusal(keyOf(test.keys)));
  expect(await dumpOf(test.redis, test.keys.prefix)).toEqual(before);
  expect(await swept.events()).toEqual([]);
});
