import { expect, it, onTestFinished } from 'vitest';
import { createDispatcher } from '../../src/delivery/dispatcher.js';
import { createRecordGate } from '../../src/delivery/groups/gate.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import { createOffsetStore } from '../../src/delivery/offsets.js';
import { eventually } from '../support/eventually.js';
import { aSubscription, fanOutDeps } from '../support/fan-out.js';
import { WORKSPACE, appendEvents, changeEvent } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';
import { StoredList, recordNames } from '../support/stored-list.js';

const test = useRedis();
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);
const append = (sequences: readonly number[]): Promise<string[]> =>
  appendEvents(
    test,
    sequences.map((sequence) => changeEvent({ record: `r${sequence}`, sequence })),
  );

/** Returns what brings the dispatching back to its present state, as when a replica without the last writes takes over. The log stays. */
async function rememberDispatching(): Promise<() => Promise<void>> {
  const keysOf = (): Promise<string[]> => test.redis.keys(test.keys.everythingOfSubscription('s'));
  const dumps = await Promise.all(
    (await keysOf()).map(async (key) => ({ key, dump: await test.redis.dumpBuffer(key) })),
  );
  return async () => {
    const multi = test.redis.multi().del(...(await keysOf()));
    for (const { key, dump } of dumps) multi.restore(key, 0, dump);
    await multi.exec();
  };
}

it('rollback: a dispatcher that runs on reads from the offset that Redis has, not from the one it remembers', async () => {
  const seen = new Set<number>();
  const gate = createRecordGate(test.redis, test.keys);
  const { queues } = await runFanOut(test, [aSubscription('s', ({ data }) => void seen.add(data.sequence))]);
  await queues.of('s').pause();
  const rollBack = await rememberDispatching();
  await append(range(1, 300));
  await eventually(async () => expect(await gate.pending('s', WORKSPACE)).toMatchObject({ events: 300 }));

  await rollBack();
  await queues.of('s').resume();
  await append([301]);

  await eventually(() => expect(seen.size).toBe(301));
});

/** A gate that does something before or after it enters a batch, once. */
function watchedGate() {
  const own = createRecordGate(test.redis, test.keys);
  const around = { before: [] as (() => Promise<void>)[], after: [] as (() => Promise<void>)[] };
  const gate: typeof own = {
    ...own,
    async enter(...args) {
      await around.before.at(-1)?.();
      around.before.pop();
      const entered = await own.enter(...args);
      await around.after.at(-1)?.();
      around.after.pop();
      return entered;
    },
  };
  const forgetNext = (): void => {
    let rollBack = (): Promise<void> => Promise.resolve();
    around.before.push(async () => {
      rollBack = await rememberDispatching();
    });
    around.after.push(() => rollBack());
  };
  /** Only then may the queue be resumed: a rollback brings its pause back. */
  const entered = (events: number): Promise<void> =>
    eventually(async () => {
      expect(around).toEqual({ before: [], after: [] });
      expect(await gate.pending('s', WORKSPACE)).toMatchObject({ events });
    });
  return { gate, around, forgetNext, entered };
}

it.each(['before', 'after'] as const)('rollback: %s a batch is entered, nothing is skipped', async (when) => {
  const seen = new Set<number>();
  const { gate, around, entered } = watchedGate();
  const subscription = aSubscription('s', ({ data }) => void seen.add(data.sequence));
  const { queues } = await runFanOut(test, [subscription], { gate });
  await queues.of('s').pause();
  const early = await rememberDispatching();
  const logIds = await append(range(1, 10));
  const offset = (): Promise<string | null> => test.redis.hget(test.keys.offsets('s'), WORKSPACE);
  await eventually(async () => expect(await offset()).toBe(logIds.at(-1)));
  const late = await rememberDispatching();

  around[when].push(when === 'before' ? early : late);
  await append(range(11, 20));
  await entered(20);
  await queues.of('s').resume();

  await eventually(() => expect([...seen].toSorted((a, b) => a - b)).toEqual(range(1, 20)));
});

it('rollback: after a batch of a replay is entered, nothing of it is skipped', async () => {
  const seen = new Set<number>();
  const { gate, forgetNext } = watchedGate();
  const subscription = aSubscription('s', ({ data }, { replay }) => {
    if (replay) seen.add(data.sequence);
  });
  const { dispatcher, settled, queues } = await runFanOut(test, [subscription], { gate });
  await append(range(1, 10));
  await settled();
  // A run that finds its entry forgotten ends; its job then comes back within two minutes only.
  await queues.of('s').pause();

  forgetNext();
  await dispatcher.replay({ subscription: 's', from: 'beginning' });
  await queues.of('s').resume();
  await settled();

  expect([...seen].toSorted((a, b) => a - b)).toEqual(range(1, 10));
});

it('rollback: after a step of a snapshot is entered, nothing of it is skipped', async () => {
  const seen = new Set<string>();
  const { gate, forgetNext, entered } = watchedGate();
  const records = recordNames(10);
  await new StoredList(test).baseline(records);
  const subscription = aSubscription('s', ({ subject }) => void seen.add(subject), { start: 'snapshot' });
  let begin = (): void => undefined;
  const paused = new Promise<void>((resolve) => (begin = resolve));
  const watch = { untilUsable: () => paused, onWritable: () => () => undefined };
  const { settled, queues } = await runFanOut(test, [subscription], { gate, watch });
  await queues.of('s').pause();

  forgetNext();
  begin();
  await entered(10);
  await queues.of('s').resume();
  await settled();

  expect([...seen].toSorted()).toEqual(records);
});

it('rollback: after a retry is entered, its event is not lost', async () => {
  const seen: number[] = [];
  const { gate, forgetNext } = watchedGate();
  const subscription = aSubscription('s', ({ data }) => {
    if (seen.push(data.sequence) === 1) throw new PermanentError('not now');
  });
  const { dead, queues } = await runFanOut(test, [subscription], { gate });
  await append([1]);
  await eventuallyDead(dead, 1);
  await queues.of('s').pause();

  forgetNext();
  expect(await dead.retry()).toBe(1);
  await queues.of('s').resume();

  await eventually(() => expect(seen).toEqual([1, 1]));
  expect(await dead.count()).toBe(0);
});

it('rollback: a dead letter that Redis has back as an event that waits is not entered a second time', async () => {
  const seen: number[] = [];
  const { gate, around } = watchedGate();
  const subscription = aSubscription('s', ({ data }) => {
    if (seen.push(data.sequence) === 1) throw new PermanentError('not now');
  });
  const { dead, queues } = await runFanOut(test, [subscription], { gate });
  await queues.of('s').pause();
  await append([1]);
  await eventually(async () => expect(await gate.pending('s', WORKSPACE)).toMatchObject({ events: 1 }));
  await eventually(async () => expect(await queues.of('s').getWaitingCount()).toBe(1));
  const early = await rememberDispatching();
  await queues.of('s').resume();
  await eventuallyDead(dead, 1);

  around.before.push(early);
  expect(await dead.retry()).toBe(0);
  expect(await gate.pending('s', WORKSPACE)).toMatchObject({ events: 1 });
  await queues.of('s').resume();

  await eventually(async () => expect(await gate.pending('s', WORKSPACE)).toMatchObject({ events: 0 }));
  expect(seen).toEqual([1, 1]);
});

it('rollback: a replay that was asked for before does not send what its subscription gets anyway', async () => {
  const seen: string[] = [];
  const store = createOffsetStore(test.redis, test.keys);
  const after = { get: [] as (() => Promise<void>)[] };
  const get: typeof store.get = async (...asked) => {
    const offset = await store.get(...asked);
    await after.get.pop()?.();
    return offset;
  };
  const subscription = aSubscription('s', ({ data }, { replay }) => {
    seen.push(`${replay ? 'replayed' : 'live'} ${data.sequence}`);
  });
  const { queues, dispatcher, pool } = await runFanOut(test, [subscription]);
  await append(range(1, 5));
  await eventually(() => expect(seen).toHaveLength(5));
  await queues.of('s').pause();
  await eventually(async () => expect(await store.get(WORKSPACE, 's')).not.toBe('0'));
  const early = await rememberDispatching();
  await append(range(6, 10));
  await eventually(async () => expect(await queues.of('s').getWaitingCount()).toBe(5));
  await dispatcher.stop();
  await pool.stop();
  seen.length = 0;

  after.get.push(early);
  const asking = createDispatcher({ ...fanOutDeps(test), subscriptions: [subscription], offsets: { ...store, get } });
  onTestFinished(() => asking.close());
  const { events } = await asking.replay({ subscription: 's', from: 'beginning' });
  expect(events).toBe(5);
});

it('rollback: a subscription does not begin without the snapshot that it begins with', async () => {
  const seen = new Set<string>();
  const records = recordNames(10);
  await new StoredList(test).baseline(records);
  const store = createOffsetStore(test.redis, test.keys);
  const before = { begin: [() => test.redis.del(test.keys.backfills('s'))] };
  const begin: typeof store.begin = async (...asked) => {
    await before.begin.pop()?.();
    return await store.begin(...asked);
  };
  const subscription = aSubscription('s', ({ subject }) => void seen.add(subject), { start: 'snapshot' });
  await runFanOut(test, [subscription], { offsets: { ...store, begin } });

  await eventually(() => expect([...seen].toSorted()).toEqual(records));
});

it('rollback: an offset moves only while the snapshot is stored that was begun before', async () => {
  const offsets = createOffsetStore(test.redis, test.keys);
  const task = `snapshot ${WORKSPACE}`;
  await offsets.begin(WORKSPACE, 's', '0');

  await offsets.advance(WORKSPACE, 's', { from: '0', to: '9-0', task });
  expect(await offsets.get(WORKSPACE, 's')).toBe('0');
  await test.redis.hset(test.keys.backfills('s'), task, '{}');
  await offsets.advance(WORKSPACE, 's', { from: '0', to: '9-0', task });
  expect(await offsets.get(WORKSPACE, 's')).toBe('9-0');
});

it('rollback: an offset moves only from where its batch was read', async () => {
  const offsets = createOffsetStore(test.redis, test.keys);
  await offsets.begin(WORKSPACE, 's', '0');

  await Promise.all([
    offsets.advance(WORKSPACE, 's', { from: '0', to: '9-0' }),
    offsets.advance(WORKSPACE, 's', { from: '0', to: '5-0' }),
  ]);

  expect(await offsets.get(WORKSPACE, 's')).toBe('9-0');
});
