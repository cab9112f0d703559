import { describe, expect, it } from 'vitest';
import { epochOfSequence, firstSequenceOf } from '../../src/events/epoch.js';
import { silentLog } from '../../src/runtime/log.js';
import { systemClock } from '../../src/runtime/clock.js';
import { createNoticeStore } from '../../src/state/notices.js';
import { createStateGuard, epochOf, type StateGuard } from '../../src/state/state-guard.js';
import { createSweepStore, type SweepStore } from '../../src/state/sweep-store.js';
import { eventually } from '../support/eventually.js';
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
const storeOf = (guard: StateGuard): SweepStore => createSweepStore(test.redis, test.keys, W, guard);

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

/** One person whose name is edited, swept by a process. */
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

describe('rewound', () => {
  it(
    'rewound: a lease is got after the workspace was forgotten, and the loss is noticed all the same',
    { timeout: 10_000 },
    async () => {
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
    },
  );

  it('rewound: of several processes one begins the epoch, and the others adopt it; it is reported once', async () => {
    const guards = [process(), process()] as const;
    await guards[0].check(W);
    const { sweep, change } = swept(guards[0]);
    await sweep();
    await change('second');
    const back = await remember();
    await change('third');
    await Promise.all(guards.map((guard) => guard.check(W)));
    await back();

    const [one, other] = await Promise.all([guards[0].check(W), guards[1].check(W)]);

    expect(epochOf(one)).toBeGreaterThan(0);
    expect(other).toEqual(one);
    const { from = '', to = '' } = one.rewound ?? {};
    expect(Date.parse(from)).toBeLessThanOrEqual(Date.parse(to));
    expect(await rewindings()).toBe(1);
  });

  it('rewound: a commit notices it, and writes nothing', async () => {
    const guard = process();
    await guard.check(W);
    const { store, sweep, change } = swept(guard);
    await sweep();
    await change('second');
    const back = await remember();
    await change('third');
    const lease = await store.acquire('people', 60_000);
    const token = lease.outcome === 'acquired' ? lease.token : '';
    await back();
    await test.redis.set(test.keys.lease(W, 'people'), token);

    expect(await store.commit('people', { token, writes: [], missing: [['p9', null]] })).toMatchObject({
      outcome: 'fenced',
    });

    expect(epochOf(guard.state(W)!)).toBeGreaterThan(0);
  });

  it('rewound: what was lost is put back with its sequences, and what follows is far higher', async () => {
    const guard = process();
    await guard.check(W);
    const { sweep, show, change } = swept(guard);
    await sweep();
    const back = await remember();
    await change('second');
    show('third', 'created');
    await sweep();
    await back();
    await guard.check(W);
    await sweep();

    expect(await said()).toEqual([
      ['rewound', undefined, expect.any(Number)],
      ['updated', 'second', 1],
      ['updated', 'third', 2],
      ['created', 'created', 1],
    ]);
    show('fourth', 'created');
    await sweep();
    const last = (await said()).slice(4);
    expect(last.map(([verb, name]) => [verb, name])).toEqual([['updated', 'fourth']]);
    expect(last.map(([, , sequence]) => epochOfSequence(sequence))).toEqual([epochOf(guard.state(W)!)]);
  });

  it('rewound: on another server, a process that knows less gives out no sequence of before, and nothing is reported yet', async () => {
    const [own, other] = [process(), process()];
    await Promise.all([own.check(W), other.check(W)]);
    const { sweep, change, show } = swept(own);
    await sweep();
    await change('second');
    await other.check(W);
    const back = await remember();
    await change('third');
    await back();
    const state = JSON.parse((await test.redis.get(test.keys.state(W))) ?? '') as object;
    await test.redis.set(test.keys.state(W), JSON.stringify({ ...state, server: 'the one before' }));

    show('fourth');
    await sweep({ store: storeOf(other) });

    const [, [, , sequence] = ['', '', 0]] = await said();
    expect(sequence).toBeGreaterThanOrEqual(firstSequenceOf(1));
    expect(await rewindings()).toBe(0);
    await own.check(W);
    // What was found again is not put back: its event would come too late.
    expect((await said()).map(([verb, name]) => [verb, name])).toEqual([
      ['updated', 'second'],
      ['updated', 'fourth'],
      ['rewound', undefined],
    ]);
  });

  it('rewound: of two processes that put back changes of one record, the later one waits', async () => {
    const [first, second] = [process(), process()];
    await Promise.all([first.check(W), second.check(W)]);
    const { sweep, show } = swept(first);
    await sweep();
    show('first of the log');
    await sweep();
    const back = await remember();
    show('second');
    await sweep();
    show('third');
    await sweep({ store: storeOf(second) });
    await back();

    const later = second.check(W);
    await eventually(async () => expect(await rewindings()).toBe(1));
    await Promise.all([later, first.check(W)]);

    expect((await said()).slice(2)).toEqual([
      ['updated', 'second', 2],
      ['updated', 'third', 3],
    ]);
  });

  it('rewound: a record that came back is missed by the next walks when it is no longer shown', async () => {
    const guard = process();
    await guard.check(W);
    const { sweep, show } = swept(guard);
    await sweep();
    const back = await remember();
    show('first', 'created');
    await sweep();
    await back();
    show('first');
    await guard.check(W);
    await sweep();

    expect(await test.redis.hexists(test.keys.missing(W, 'people'), 'p2')).toBe(1);
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
    const first = epochOf(await guard.check(W));
    await back();
    const second = epochOf(await guard.check(W));
    await change('fourth');
    const again = await remember();
    await change('fifth');
    await again();
    const third = epochOf(await guard.check(W));

    expect(second).toBeGreaterThan(first);
    expect(third).toBeGreaterThan(second);
    // Of the first, Redis knows nothing; the second is not over yet.
    expect(await rewindings()).toBe(2);
  });

  it('rewound: a lease of the epoch before allows no commit in the next', async () => {
    const [own, other] = [process(), process()];
    await own.check(W);
    const store = storeOf(own);
    const lease = await store.acquire('people', 60_000);
    const token = lease.outcome === 'acquired' ? lease.token : '';
    expect(await store.commit('people', { token, writes: [] })).toMatchObject({ outcome: 'committed' });

    expect(await other.startEpoch(W)).not.toBeNull();

    expect(await store.commit('people', { token, writes: [] })).toMatchObject({ outcome: 'fenced' });
    await store.release('people', token);
    expect(await store.acquire('people', 60_000)).toMatchObject({ epoch: epochOf(await own.check(W)) });
  });

  it('rewound: a log that the retention has shortened or emptied is no earlier one', async () => {
    const guard = process();
    await guard.check(W);
    const { sweep, change } = swept(guard);
    await sweep();
    await change('second');
    await test.redis.xtrim(test.keys.log(W), 'MAXLEN', 0);
    expect((await guard.check(W)).epoch).toBeUndefined();
    await change('third');
    expect((await guard.check(W)).epoch).toBeUndefined();
    expect(await rewindings()).toBe(0);
  });

  it('rewound: notices are counted on in the epoch', async () => {
    const notices = createNoticeStore(test.redis, test.keys, () => 7);
    const draft = { kind: 'list.late', subject: 'list:people', severity: 'error', list: 'people' } as const;
    for (const at of [1, 2]) {
      const since = new Date(at).toISOString();
      await notices.raise({ ...draft, workspace: W, message: '', since, at: since }, at);
      await notices.endUnseen(W, { sinceMs: at + 1, nowMs: at + 1 });
    }
    const first = firstSequenceOf(7);
    expect((await loggedEvents(test)).map(({ data }) => data.sequence)).toEqual([
      first,
      first + 1,
      first + 2,
      first + 3,
    ]);
  });
});
