import { expect, it, vi } from 'vitest';
import { epochOfSequence, firstSequenceOf } from '../../src/events/envelope.js';
import { compareLogIds } from '../../src/events/log-id.js';
import { createLogReader } from '../../src/log/event-log.js';
import { silentLog } from '../../src/kit/log.js';
import { systemClock } from '../../src/kit/clock.js';
import { createNoticeStore } from '../../src/log/notices.js';
import { createStateGuard, numberOfStep, type StateGuard } from '../../src/log/state-guard.js';
import { createTodoStore } from '../../src/feed/todos/todo-store.js';
import { createSweepStore, type SweepStore } from '../../src/feed/store/sweep-store.js';
import { changeEvent } from '../support/events.js';
import { heardLog } from '../support/heard-log.js';
import { listedApi } from '../support/listed.js';
import { loggedEvents, useRedis } from '../support/redis.js';
import { sweptList } from '../support/swept-list.js';

const W = 'acme';
const test = useRedis();
const process = (): StateGuard =>
  createStateGuard({
    ...{ redis: test.redis, keys: test.keys, clock: systemClock, log: silentLog },
    listsOf: () => ['people'],
  });
const storeOf = (guard: StateGuard): SweepStore => createSweepStore(test.redis, test.keys, W, { guard });

/** Returns what brings the workspace back to its present state, as when a replica without the last writes takes over. */
async function remember(): Promise<() => Promise<void>> {
  const everything = (): Promise<string[]> => test.redis.keys(test.keys.everythingOf(W));
  const dumps = await Promise.all(
    (await everything()).map(async (key) => ({ key, dump: await test.redis.dumpBuffer(key) })),
  );
  return async () => {
    const multi = test.redis.multi().del(...(await everything()));
    for (const { key, dump } of dumps) multi.restore(key, 0, dump);
    await multi.exec();
  };
}

function swept(guard: StateGuard) {
  const api = listedApi([{ id: 'p1', 이름: 'first' }]);
  const store = storeOf(guard);
  const { sweep } = sweptList(test, api);
  return {
    store,
    sweep: (options: { store?: SweepStore } = {}) => sweep({ store, ...options }),
    show: (...names: string[]): void =>
      void (api.records = names.map((name, index) => ({ id: `p${index + 1}`, 이름: name }))),
    change: async (name: string): Promise<void> => {
      api.records = [{ id: 'p1', 이름: name }];
      await sweep({ store });
    },
  };
}

const said = async (): Promise<[string | undefined, unknown, number][]> =>
  (await loggedEvents(test)).map(({ type, data }) => [type.split('.').at(-1), data.after?.['이름'], data.sequence]);
const rewindings = async (): Promise<number> =>
  (await loggedEvents(test)).filter(({ type }) => type === 'changefeed.state.rewound').length;

async function raiseLate(guard?: StateGuard): Promise<'raised' | 'known'> {
  const draft = { kind: 'list.late', subject: 'list:people', severity: 'error', list: 'people' } as const;
  const at = new Date(1).toISOString();
  const notices = createNoticeStore(test.redis, test.keys, guard);
  return await notices.raise({ ...draft, workspace: W, message: '', since: at, at }, 1);
}

async function moveServer(): Promise<void> {
  const key = test.keys.state(W);
  const state = JSON.parse((await test.redis.get(key)) ?? '') as object;
  await test.redis.set(key, JSON.stringify({ ...state, server: 'another' }));
}

async function storeOffset(logId: string): Promise<void> {
  await test.redis.hset(test.keys.readers(W), 's', '0');
  await test.redis.hset(test.keys.offsets('s'), W, logId);
}
const lastId = async (): Promise<string> => (await test.redis.xrevrange(test.keys.log(W), '+', '-', 'COUNT', 1))[0]![0];
const FAR = `${Date.now() + 60_000}-7`;

it('rewound: a fresh state begins an epoch, so that no sequence repeats one of an earlier state', async () => {
  const { epoch, lostAt } = await process().check(W);
  expect(epoch).toBeGreaterThan(1_700_000_000);
  expect(lostAt).toBeNull();
});

it('rewound: where nothing is stored, a log line says that receivers may have higher sequences', async () => {
  const { log, heard } = heardLog();
  const guards = [1, 2].map(() => createStateGuard({ ...test, clock: systemClock, log }));
  for (const guard of guards) await guard.check(W);
  const firstSequence = firstSequenceOf(guards[0]!.state(W)!.epoch);
  const message = expect.stringContaining('no earlier state is stored') as string;
  expect(heard).toEqual([{ level: 'info', facts: { workspace: W, firstSequence }, message }]);
});

const sweptIn = (field: string) => (epoch: number) =>
  test.redis.hset(test.keys.sweep(W, 'people'), field, JSON.stringify({ epoch }));

it.each<[string, (epoch: number) => Promise<unknown>]>([
  ['a checkpoint', sweptIn('checkpoint')],
  ['a complete sweep', sweptIn('lastSweep')],
  ['notices', () => raiseLate()],
])('rewound: without the state, an epoch is above that of %s, although its clock was ahead', async (_what, keep) => {
  const { log, heard } = heardLog();
  const ahead = { ...systemClock, now: () => systemClock.now() + 10 * 365 * 86_400_000 };
  const { epoch } = await createStateGuard({ ...test, clock: ahead, log: silentLog }).check(W);
  await keep(epoch);
  await test.redis.del(test.keys.state(W));

  const guard = createStateGuard({ ...test, clock: systemClock, log, listsOf: () => ['people'] });
  const after = (await guard.check(W)).epoch;
  expect([after, heard]).toEqual([epoch + 1, []]);
});

it.each(['check', 'lease', 'commit'] as const)(
  'rewound: a %s on another server begins an epoch first; nothing is reported',
  async (by) => {
    const guard = process();
    const before = await guard.check(W);
    const { store, sweep, change } = swept(guard);
    await sweep();
    const lease = await store.acquire('people', 60_000);
    const token = lease.outcome === 'acquired' ? lease.token : '';
    await moveServer();

    if (by === 'check') await guard.check(W);
    else if (by === 'commit')
      expect(await store.commit('people', { token, writes: [] })).toMatchObject({ outcome: 'fenced' });
    else await storeOf(guard).acquire('memo', 60_000);

    const { epoch, epochSince } = guard.state(W)!;
    expect(epoch).toBeGreaterThan(before.epoch);
    expect(epochSince! >= before.epochSince!).toBe(true);
    await change('second');
    expect((await said()).map(([verb, name, sequence]) => [verb, name, epochOfSequence(sequence)])).toEqual([
      ['updated', 'second', epoch],
    ]);
    expect(await rewindings()).toBe(0);
  },
);

it('rewound: of several processes one begins the epoch, and the others find it', async () => {
  const guards = [process(), process(), process()];
  await Promise.all(guards.map((guard) => guard.check(W)));
  await moveServer();
  const states = await Promise.all(guards.map((guard) => guard.check(W)));
  expect(new Set(states.map(({ epoch }) => epoch)).size).toBe(1);
});

/** To a consumer, which may acknowledge it at any time. */
async function handOut(logId: string): Promise<void> {
  await storeOffset('0');
  await test.redis.hset(test.keys.pulled('s'), `in ${W}`, `0 ${logId} ${logId} 1`);
}

it.each([
  ['offset of a reader', storeOffset],
  ['end of what a consumer was given', handOut],
])('rewound: an epoch begins above every %s, which would otherwise skip what is logged', async (_, store) => {
  const guard = process();
  await guard.check(W);
  const { sweep, change } = swept(guard);
  await sweep();
  await store(FAR);
  await moveServer();
  await change('second');
  expect(compareLogIds(await lastId(), FAR)).toBeGreaterThan(0);
  expect((await said()).map(([verb]) => verb)).toEqual(['rewound', 'updated']);
  expect(Date.parse(guard.state(W)!.rewound!.from)).toBeLessThanOrEqual(Date.now());
});

it('rewound: a reader that finds its offset above the end of the log begins an epoch, once', async () => {
  const guard = process();
  await guard.check(W);
  const { sweep, change } = swept(guard);
  await sweep();
  await change('second');
  const reader = createLogReader({ redis: test.redis, keys: test.keys, connect: () => test.connect(), guard });
  await storeOffset(FAR);
  for (const _ of [1, 2]) await reader.checkOffset(W, FAR);
  const [found] = await reader.read(W, { from: FAR, limit: 10 });
  expect(found?.event.type).toBe('changefeed.state.rewound');
  expect(await rewindings()).toBe(1);
  await reader.close();
});

it('rewound: an offset that a reader read before Redis went back is evidence of a loss, and begins one epoch at most', async () => {
  const guard = process();
  await guard.check(W);
  const { sweep } = swept(guard);
  await sweep();
  const { epoch } = guard.state(W)!;
  await guard.checkOffset(W, FAR);
  expect(guard.state(W)!.epoch).toBe(epoch);
  expect(await rewindings()).toBe(0);
  await moveServer();
  for (const _ of [1, 2]) await guard.checkOffset(W, FAR);
  expect(guard.state(W)!.epoch).toBe(epoch + 1);
  expect(await rewindings()).toBe(1);
});

it('rewound: timers and notices wait for the epoch', async () => {
  const guard = process();
  await guard.check(W);
  await moveServer();
  expect(await raiseLate()).toBe('known');
  expect(await loggedEvents(test)).toEqual([]);
  const { epoch } = await guard.check(W);
  expect(await raiseLate()).toBe('raised');
  await createNoticeStore(test.redis, test.keys).endUnseen(W, { sinceMs: 2, nowMs: 2 });
  const first = firstSequenceOf(epoch);
  expect((await loggedEvents(test)).map(({ data }) => data.sequence)).toEqual([first, first + 1]);
});

it('rewound: a process that finds another server reports the steps that it lacks, also when another one has begun the epoch', async () => {
  const [knows, other] = [process(), process()];
  await Promise.all([knows.check(W), other.check(W)]);
  const { sweep, change } = swept(knows);
  await sweep();
  await change('second');
  const back = await remember();
  await change('third');
  await back();
  await moveServer();
  await other.check(W);
  expect(await rewindings()).toBe(0);
  await Promise.all([knows.check(W), knows.look(W)]);
  await Promise.all([knows.check(W), other.check(W)]);
  expect(await rewindings()).toBe(1);
});

it('rewound: a process reports the steps that it lacks, also when another one has committed as many in their place', async () => {
  const [knows, other] = [process(), process()];
  await Promise.all([knows.check(W), other.check(W)]);
  const before = swept(knows);
  await before.sweep();
  await before.change('second');
  const back = await remember();
  await before.change('third');
  await back();
  await moveServer();
  await other.check(W);
  const after = swept(other);
  for (const name of ['fourth', 'fifth']) await after.change(name);
  expect(await rewindings()).toBe(0);
  const steps = await test.redis.hget(test.keys.sweep(W, 'people'), 'step');
  expect(numberOfStep(steps ?? '')).toBeGreaterThan(
    numberOfStep(knows.steps(W).get(test.keys.sweep(W, 'people')) ?? ''),
  );
  await knows.check(W);
  expect(await rewindings()).toBe(1);
});

/** What is logged without a step of a list. */
const ASIDE = {
  'a notice': (guard: StateGuard) => raiseLate(guard),
  'the end of a notice': async (guard: StateGuard) => {
    await raiseLate();
    await createNoticeStore(test.redis, test.keys, guard).endUnseen(W, { sinceMs: 2, nowMs: 2 });
  },
  'the event of a timer': async (guard: StateGuard) => {
    await test.redis.zadd(test.keys.due(W), 1, 'overdue t1');
    const event = changeEvent({ record: 't1', sequence: 1 });
    await createTodoStore(test.redis, test.keys, W, { guard }).fire(
      { kind: 'overdue', key: 't1', atMs: 1 },
      null,
      event,
    );
  },
} as const;

it.each(Object.entries(ASIDE))('rewound: a process reports that %s was cut', async (_what, say) => {
  const [knows, other] = [process(), process()];
  await Promise.all([knows.check(W), other.check(W)]);
  const back = await remember();
  await say(knows);
  await back();
  await moveServer();
  await other.check(W);
  expect(await rewindings()).toBe(0);
  await knows.check(W);
  expect(await rewindings()).toBe(1);
});

it.each(Object.entries(ASIDE))('rewound: %s that another server has is no loss (control)', async (_what, say) => {
  const guard = process();
  await guard.check(W);
  await say(guard);
  await moveServer();
  await guard.check(W);
  expect(await rewindings()).toBe(0);
});

it('rewound: a lease is got after the workspace was forgotten, and the loss is noticed all the same', async () => {
  const guard = process();
  const { id } = await guard.check(W);
  const { store, sweep, change } = swept(guard);
  await sweep();
  await change('second');
  await test.redis.del(...(await test.redis.keys(test.keys.everythingOf(W))));

  expect(await store.acquire('people', 60_000)).toMatchObject({ outcome: 'acquired' });

  const after = await guard.check(W);
  expect(after.id).not.toBe(id);
  expect(after.lostAt).not.toBeNull();
});

it.each(['commit', 'lease'] as const)(
  'rewound: a %s finds an earlier step than was stored, which is reported once',
  async (by) => {
    const [guard, other] = [process(), process()];
    await guard.check(W);
    const { store, sweep, change } = swept(guard);
    await sweep();
    await change('second');
    const back = await remember();
    await change('third');
    await storeOf(other)
      .acquire('people', 60_000)
      .then(() => other.check(W));
    const token = (await test.redis.get(test.keys.lease(W, 'people'))) ?? '';
    await back();

    if (by === 'commit')
      expect(await store.commit('people', { token, writes: [] })).toMatchObject({ outcome: 'fenced' });
    else {
      const lease = await store.acquire('people', 60_000);
      expect(lease).toMatchObject({ outcome: 'acquired', epoch: guard.state(W)!.epoch });
      await store.release('people', lease.outcome === 'acquired' ? lease.token : '');
    }
    // Another process knew the lost step as well.
    await storeOf(other).acquire('memo', 60_000);
    await change('fourth');

    const { epoch, rewound } = await other.check(W);
    expect(Date.parse(rewound!.from)).toBeLessThanOrEqual(Date.parse(rewound!.to));
    const [, , ...later] = await said();
    expect((await said()).map(([verb, name]) => [verb, name])).toEqual([
      ['updated', 'second'],
      ['rewound', undefined],
      ['updated', 'fourth'],
    ]);
    expect(epochOfSequence(later[0]![2])).toBe(epoch);
  },
);

it('rewound: a step that did not arrive is no loss (control: the next one writes nothing)', async () => {
  const guard = process();
  await guard.check(W);
  const { store, sweep, change } = swept(guard);
  await sweep();
  const lease = await store.acquire('people', 60_000);
  const token = lease.outcome === 'acquired' ? lease.token : '';
  const calls = vi.spyOn(test.redis, 'call').mockRejectedValueOnce(new Error('connection lost'));
  await expect(store.commit('people', { token, writes: [] })).rejects.toThrow('connection lost');
  calls.mockRestore();
  expect(await store.commit('people', { token, writes: [] })).toMatchObject({ outcome: 'fenced' });
  await store.release('people', token);
  await change('second');
  expect((await said()).map(([verb]) => verb)).toEqual(['updated']);
});

it('rewound: a second time, behind the beginning of the first epoch, leads to a higher one', async () => {
  const guard = process();
  await guard.check(W);
  const { sweep, change } = swept(guard);
  await sweep();
  await change('second');
  const back = await remember();
  await change('third');
  await back();
  await change('third');
  const first = guard.state(W)!.epoch;
  await back();
  const second = (await guard.check(W)).epoch;
  expect(second).toBeGreaterThan(first);
  expect(await rewindings()).toBe(1);
});

it('rewound: a log that the retention has emptied is no earlier one', async () => {
  const guard = process();
  const { epoch } = await guard.check(W);
  const { sweep, change } = swept(guard);
  await sweep();
  await change('second');
  await storeOffset(await lastId());
  await test.redis.xtrim(test.keys.log(W), 'MAXLEN', 0);
  await guard.checkOffset(W, (await test.redis.hget(test.keys.offsets('s'), W))!);
  await change('third');
  expect(guard.state(W)!.epoch).toBe(epoch);
  expect(await rewindings()).toBe(0);
});
