import { describe, expect, it } from 'vitest';
import { createRecordGate, type Claim, type NewEntry, type RecordGate } from '../../../src/delivery/groups/gate.js';
import { changeEvent } from '../../support/events.js';
import { useRedis } from '../../support/redis.js';

const test = useRedis();
const SUB = 'ops';
const WS = 'acme';
const TOKEN = 'w1';

const entry = (group: string | null, n: number, more: Partial<NewEntry> = {}): NewEntry => {
  const logId = `1700000000000-${n}`;
  return { id: `evt_${n}`, group, logId, serial: logId, atMs: n, kind: 'logged', type: 'crm.person.updated', ...more };
};
const gateOf = (): RecordGate => createRecordGate(test.redis, test.keys);
const enter = (gate: RecordGate, entries: readonly NewEntry[], source = WS): ReturnType<RecordGate['enter']> =>
  gate.enter(SUB, { workspace: WS, source, readAt: null, entries });
async function run({ group, id }: NewEntry, token = TOKEN): Promise<Claim> {
  await test.redis.set(test.keys.jobLock(SUB, id), token);
  return { workspace: WS, group, id, token };
}
const dead = ({ group, id }: NewEntry): Claim => ({ workspace: WS, group, id, token: '' });
const left = (n: number | null) => ({
  outcome: 'left',
  next: n === null ? null : (expect.objectContaining({ id: `evt_${n}` }) as object),
});
const entered = (heads: readonly boolean[], pending: number) => ({
  heads,
  pending,
});

describe('the record gate', () => {
  it('gate: an event that was entered before is not entered again, whether pending or done', async () => {
    const gate = gateOf();
    const [a1, a2, a10] = [entry('a', 1), entry('a', 2), entry('a', 10)];
    await enter(gate, [a1, a2]);
    await gate.advance(SUB, await run(a1));

    expect(await enter(gate, [a1, a2, a10])).toEqual(entered([false, true, false], 2));
  });

  it('gate: a run that lost its job cannot advance, hold or merge', async () => {
    const gate = gateOf();
    const [a1, a2] = [entry('a', 1), entry('a', 2)];
    await enter(gate, [a1, a2]);
    const lost = await run(a1, 'lost');
    const successor = await run(a1, 'successor');
    const stored = { event: changeEvent({ record: 'a', sequence: 1 }) };

    expect(await gate.advance(SUB, lost)).toEqual({ outcome: 'taken-over' });
    expect(await gate.hold(SUB, lost)).toEqual({ outcome: 'taken-over' });
    expect(await gate.merge(SUB, lost, { count: 1, head: a1, stored })).toEqual({ outcome: 'taken-over' });
    await test.redis.del(test.keys.jobLock(SUB, a1.id));
    expect(await gate.advance(SUB, successor)).toEqual({ outcome: 'taken-over' });
    expect(await gate.standing(SUB, successor)).toEqual({ outcome: 'taken-over' });
    expect(await gate.standing(SUB, { ...successor, token: '' })).toMatchObject({ outcome: 'head' });
    expect(await gate.pending(SUB, WS)).toMatchObject({ events: 2 });
  });

  it('gate: a run is told for how long it has its lock', async () => {
    const gate = gateOf();
    const a1 = entry('a', 1);
    await enter(gate, [a1]);
    const claim = await run(a1);
    await test.redis.pexpire(test.keys.jobLock(SUB, a1.id), 5_000);
    const first = await gate.standing(SUB, claim);
    expect(first.outcome === 'head' && first.lockedForMs).toBeGreaterThan(1_000);
    expect(first).toMatchObject({ outcome: 'head', entries: [{ id: a1.id }] });
  });

  it('gate: log ids are compared as numbers', async () => {
    const gate = gateOf();
    const at = (logId: string): NewEntry => entry('a', 0, { id: logId, logId, serial: logId });
    await enter(gate, [at('999-9'), at('999-10'), at('1000-0')]);

    expect((await gate.pending(SUB, WS)).events).toBe(3);
    expect(await enter(gate, [at('999-10'), at('1000-0')])).toEqual(entered([false, false], 3));
  });

  it('gate: pending events are counted per workspace, and the oldest is known', async () => {
    const gate = gateOf();
    const [older, newer] = [entry('a', 1, { logId: '5-3', serial: '5-3' }), entry(null, 2)];
    await enter(gate, [older, newer]);
    await gate.enter(SUB, { workspace: 'other', source: 'other', readAt: null, entries: [entry(null, 7)] });

    expect(await gate.pending(SUB, WS)).toEqual({ events: 2, oldest: '5-3', oldestMs: 5, oldestId: older.id });
    await gate.advance(SUB, await run(older));
    expect(await gate.pending(SUB, WS)).toEqual({
      events: 1,
      oldest: '1700000000000-2',
      oldestMs: 1_700_000_000_000,
      oldestId: newer.id,
    });
    expect(await gate.pending(SUB, 'other')).toMatchObject({ events: 1 });
  });

  it('gate: an event from before the log waits since it was entered, and not since 1970', async () => {
    const gate = gateOf();
    const atMs = 1_795_447_927_123;
    await enter(gate, [entry('a', 1, { logId: '0-0', serial: '1-0', atMs })], 's1:acme');

    expect(await gate.pending(SUB, WS)).toEqual({
      events: 1,
      oldest: '0-0',
      oldestMs: atMs,
      oldestId: entry('a', 1).id,
    });
  });

  it('gate: handled events leave only the serial of the log', async () => {
    const gate = gateOf();
    const stored = { event: changeEvent({ record: 'a', sequence: 1 }) };
    const all = [entry('a', 1), entry(null, 2), entry('a', 3, { kind: 'stored', stored })];
    await enter(gate, all);
    for (const one of all) {
      const claim = await run(one);
      await gate.advance(SUB, claim);
      await test.redis.del(test.keys.jobLock(SUB, one.id));
    }

    expect(await test.redis.keys(`${test.keys.prefix}:*`)).toEqual([test.keys.entered(SUB, WS)]);
  });
});

describe('a held dead letter in the record gate', () => {
  it('gate: a retry of one that was released goes to the end', async () => {
    const gate = gateOf();
    const [a1, a2] = [entry('a', 1), entry('a', 2)];
    await enter(gate, [a1, a2]);
    await gate.advance(SUB, await run(a1));
    const retry = entry('a', 1, { id: 'evt_1.t1', serial: '0-1', replaces: 'evt_1' });

    expect(await enter(gate, [retry], 'retry:evt_1')).toEqual(entered([false], 2));
  });

  it('gate: it can be dropped, but not while a run has its job', async () => {
    const gate = gateOf();
    const [a1, a2] = [entry('a', 1), entry('a', 2)];
    await enter(gate, [a1, a2]);
    await gate.hold(SUB, await run(a1));

    expect(await gate.advance(SUB, dead(a1))).toEqual({ outcome: 'taken-over' });
    await test.redis.del(test.keys.jobLock(SUB, a1.id));
    expect(await gate.advance(SUB, dead(a1))).toEqual(left(2));
    expect(await gate.advance(SUB, dead(a1))).toEqual(left(2));
  });
});
