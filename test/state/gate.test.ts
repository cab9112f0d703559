import { describe, expect, it } from 'vitest';
import type { Claim, Entry } from '../../src/dispatch/ports.js';
import { RedisRecordGate } from '../../src/state/gate.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const SUB = 'ops';
const WS = 'acme';

const entry = (lane: string | null, n: number): Entry => ({
  workspace: WS,
  group: lane,
  logId: `1700000000000-${n}`,
  eventId: `evt_${n}`,
});
const claim = (of: Entry, holder = 'w1', revived = false): Claim => ({ ...of, holder, retried: revived });
/** Its job is locked by whoever runs it; `revive` asks for that. */
const revived = async (gate: RedisRecordGate, of: Entry, life = 1): Promise<Claim> => {
  await test.redis.set(test.keys.jobLock(SUB, of.eventId), 'token');
  const answer = await gate.reenter(SUB, of, { token: 'token', life });
  return { ...claim(of, `w2/${life + 1}`, true), position: answer.outcome === 'placed' ? answer.position : '' };
};
const gateOf = (): RedisRecordGate => new RedisRecordGate(test.redis, test.keys);

describe('the record gate', () => {
  it("lets a record's first event run and holds back the others, record by record", async () => {
    const gate = gateOf();
    const [a1, b1, a2] = [entry('a', 1), entry('b', 2), entry('a', 3)];

    const standings = await gate.enter(SUB, WS, [a1, b1, a2]);

    expect(standings.map(({ standing }) => standing)).toEqual(['head', 'head', 'behind']);
    expect(await gate.turn(SUB, claim(a2))).toEqual({ outcome: 'wait', behind: 'evt_1' });
    expect(await gate.turn(SUB, claim(a1))).toEqual({ outcome: 'go' });
    expect(await gate.leave(SUB, claim(a1))).toEqual({ outcome: 'left', next: 'evt_3' });
    expect(await gate.turn(SUB, claim(a2))).toEqual({ outcome: 'go' });
  });

  it('does not take an event in again that was entered before, pending or done', async () => {
    const gate = gateOf();
    const [a1, a2, a3] = [entry('a', 1), entry('a', 2), entry('a', 10)];
    await gate.enter(SUB, WS, [a1, a2]);
    await gate.turn(SUB, claim(a1));
    await gate.leave(SUB, claim(a1));

    const repeated = await gate.enter(SUB, WS, [a1, a2, a3]);

    expect(repeated).toEqual([
      { standing: 'left', fresh: false },
      { standing: 'head', fresh: false },
      { standing: 'behind', fresh: true },
    ]);
    expect(await gate.turn(SUB, claim(a1))).toEqual({ outcome: 'left', next: 'evt_2' });
  });

  it('repeats of leaving change nothing and name the head again', async () => {
    const gate = gateOf();
    const [a1, a2] = [entry('a', 1), entry('a', 2)];
    await gate.enter(SUB, WS, [a1, a2]);
    await gate.turn(SUB, claim(a1));

    const once = await gate.leave(SUB, claim(a1));
    const twice = await gate.leave(SUB, claim(a1));

    expect([once, twice]).toEqual([
      { outcome: 'left', next: 'evt_2' },
      { outcome: 'left', next: 'evt_2' },
    ]);
  });

  it('shuts out a run whose job another process has taken over', async () => {
    const gate = gateOf();
    const [a1, a2] = [entry('a', 1), entry('a', 2)];
    await gate.enter(SUB, WS, [a1, a2]);
    await gate.turn(SUB, claim(a1, 'lost'));
    await gate.turn(SUB, claim(a1, 'successor'));

    expect(await gate.leave(SUB, claim(a1, 'lost'))).toEqual({ outcome: 'taken-over' });
    expect(await gate.turn(SUB, claim(a2))).toEqual({ outcome: 'wait', behind: 'evt_1' });
    expect(await gate.leave(SUB, claim(a1, 'successor'))).toEqual({ outcome: 'left', next: 'evt_2' });
  });

  it('puts a dead letter that is tried again at the end of its lane, before what comes later', async () => {
    const gate = gateOf();
    const [a1, a2, a3] = [entry('a', 1), entry('a', 2), entry('a', 3)];
    await gate.enter(SUB, WS, [a1, a2]);
    await gate.turn(SUB, claim(a1));
    await gate.leave(SUB, claim(a1));

    const again = await revived(gate, a1);
    expect(await gate.turn(SUB, again)).toEqual({ outcome: 'wait', behind: 'evt_2' });
    await gate.enter(SUB, WS, [a3]);
    await gate.turn(SUB, claim(a2));
    expect(await gate.leave(SUB, claim(a2))).toEqual({ outcome: 'left', next: 'evt_1' });
    expect(await gate.turn(SUB, again)).toEqual({ outcome: 'go' });
    expect(await gate.leave(SUB, again)).toEqual({ outcome: 'left', next: 'evt_3' });
    expect(await gate.pending(SUB, WS)).toEqual({ events: 1, oldest: '1700000000000-3' });
  });

  it('gives an event to the later of two starts of its job, whichever asks last', async () => {
    const gate = gateOf();
    const a1 = entry('a', 1);
    await gate.enter(SUB, WS, [a1]);
    await gate.turn(SUB, claim(a1, 'successor/10'));

    expect(await gate.turn(SUB, claim(a1, 'lost/9'))).toEqual({ outcome: 'taken-over' });
    expect(await gate.leave(SUB, claim(a1, 'successor/10'))).toEqual({ outcome: 'left', next: null });
  });

  it('knows of a dead letter tried again that it has left, and gives it a new place when it is tried once more', async () => {
    const gate = gateOf();
    const [a1, a2] = [entry('a', 1), entry('a', 2)];
    await gate.enter(SUB, WS, [a1, a2]);
    await gate.turn(SUB, claim(a1));
    await gate.leave(SUB, claim(a1));
    await gate.turn(SUB, claim(a2));
    await gate.leave(SUB, claim(a2));
    const again = await revived(gate, a1);
    await gate.turn(SUB, again);
    await gate.leave(SUB, again);

    expect(await revived(gate, a1)).toEqual(again);
    expect(await gate.turn(SUB, again)).toEqual({ outcome: 'left', next: null });
    const onceMore = await revived(gate, a1, 5);
    expect(await gate.turn(SUB, onceMore)).toEqual({ outcome: 'go' });
    expect(onceMore.position).not.toBe(again.position);
  });

  it('gives no place to a run that lost its job: nobody would ever make the event leave', async () => {
    const gate = gateOf();
    const [a1, a2] = [entry('a', 1), entry('a', 2)];
    await gate.enter(SUB, WS, [a1, a2]);
    await gate.turn(SUB, claim(a1));
    await gate.leave(SUB, claim(a1));
    await test.redis.set(test.keys.jobLock(SUB, a1.eventId), "the successor's token");

    expect(await gate.reenter(SUB, a1, { token: 'token', life: 1 })).toEqual({ outcome: 'taken-over' });
    await gate.turn(SUB, claim(a2));
    expect(await gate.leave(SUB, claim(a2))).toEqual({ outcome: 'left', next: null });
  });

  it("keeps apart records of which one's name begins with the other's", async () => {
    const gate = gateOf();
    const standings = await gate.enter(SUB, WS, [entry('a', 1), entry('ab', 2), entry('a/b', 3), entry('a', 4)]);

    expect(standings.map(({ standing }) => standing)).toEqual(['head', 'head', 'head', 'behind']);
  });

  it('orders a lane by the log even where the digits of the ids grow', async () => {
    const gate = gateOf();
    const at = (logId: string, eventId: string): Entry => ({ workspace: WS, group: 'a', logId, eventId });
    await gate.enter(SUB, WS, [at('999-9', 'x'), at('999-10', 'y'), at('1000-0', 'z')]);

    const order: string[] = [];
    for (const one of [at('999-9', 'x'), at('999-10', 'y'), at('1000-0', 'z')]) {
      await gate.turn(SUB, claim(one));
      order.push(JSON.stringify(await gate.leave(SUB, claim(one))));
    }

    expect(order).toEqual([
      '{"outcome":"left","next":"y"}',
      '{"outcome":"left","next":"z"}',
      '{"outcome":"left","next":null}',
    ]);
  });

  it('runs an event that its lanes have lost rather than dropping it', async () => {
    const gate = gateOf();

    expect(await gate.turn(SUB, claim(entry('a', 1)))).toEqual({ outcome: 'go' });
    expect(await gate.leave(SUB, claim(entry('a', 1)))).toEqual({ outcome: 'left', next: null });
  });

  it('counts what is pending without an order as well, workspace by workspace', async () => {
    const gate = gateOf();
    await gate.enter(SUB, WS, [entry(null, 1), entry(null, 2)]);
    await gate.enter(SUB, 'other', [{ ...entry(null, 7), workspace: 'other' }]);

    await gate.leave(SUB, claim(entry(null, 1)));

    expect(await gate.pending(SUB, WS)).toEqual({ events: 1, oldest: '1700000000000-2' });
    expect(await gate.pending(SUB, 'other')).toEqual({ events: 1, oldest: '1700000000000-7' });
  });

  it('leaves nothing behind but how far it has read', async () => {
    const gate = gateOf();
    const [a1, a2] = [entry('a', 1), entry(null, 2)];
    await gate.enter(SUB, WS, [a1, a2]);
    for (const one of [claim(a1), claim(a2)]) {
      await gate.turn(SUB, one);
      await gate.leave(SUB, one);
    }

    expect(await test.redis.keys(`${test.keys.prefix}:*`)).toEqual([test.keys.entered(SUB)]);
  });
});

describe('a held dead letter in the record gate', () => {
  it('keeps its followers waiting, is pending no more, and runs first when it is tried again', async () => {
    const gate = gateOf();
    const [a1, a2] = [entry('a', 1), entry('a', 2)];
    await gate.enter(SUB, WS, [a1, a2]);
    await gate.turn(SUB, claim(a1));

    expect(await gate.hold(SUB, claim(a1))).toEqual({ outcome: 'held' });
    expect(await gate.pending(SUB, WS)).toEqual({ events: 1, oldest: '1700000000000-2' });
    expect(await gate.turn(SUB, claim(a2))).toEqual({ outcome: 'wait', behind: 'evt_1' });
    const again = await revived(gate, a1);
    expect(await gate.hold(SUB, claim(a1))).toEqual({ outcome: 'taken-over' });
    expect(await gate.turn(SUB, again)).toEqual({ outcome: 'go' });
    expect(await gate.leave(SUB, again)).toEqual({ outcome: 'left', next: 'evt_2' });
  });

  it('cannot be held by a run that lost its job, nor dropped while somebody runs it', async () => {
    const gate = gateOf();
    const [a1, a2] = [entry('a', 1), entry('a', 2)];
    await gate.enter(SUB, WS, [a1, a2]);
    await gate.turn(SUB, claim(a1, 'lost'));
    await gate.turn(SUB, claim(a1, 'successor'));

    expect(await gate.hold(SUB, claim(a1, 'lost'))).toEqual({ outcome: 'taken-over' });
    expect(await gate.drop(SUB, a1)).toEqual({ next: null });
    await gate.hold(SUB, claim(a1, 'successor'));
    expect(await gate.drop(SUB, a1)).toEqual({ next: 'evt_2' });
    expect(await gate.turn(SUB, claim(a2))).toEqual({ outcome: 'go' });
  });
});

describe('followers that go along with the head of their lane', () => {
  const company = { followers: ['evt_2', 'evt_3'] };
  const delivery = { event: { id: 'evt_m' }, workspace: WS, logId: '1', lane: 'a', settled: 'evt_1' } as never;
  const four = [1, 2, 3, 4].map((n) => entry('a', n));
  const [a1, a2, , a4] = four as [Entry, Entry, Entry, Entry];

  async function entered(): Promise<RedisRecordGate> {
    const gate = gateOf();
    await gate.enter(SUB, WS, four);
    await gate.turn(SUB, claim(a1));
    await test.redis.hset(test.keys.job(SUB, 'evt_1'), 'data', '{}');
    return gate;
  }

  it('are named to the head, in order and not more than asked for; to others none', async () => {
    const gate = await entered();
    expect(await gate.followers(SUB, claim(a1), 10)).toEqual(['evt_2', 'evt_3', 'evt_4']);
    expect(await gate.followers(SUB, claim(a1), 2)).toEqual(['evt_2', 'evt_3']);
    expect(await gate.followers(SUB, claim(a2), 10)).toEqual([]);
  });

  it('are merged into it: they leave, its job carries them, and it stays the head', async () => {
    const gate = await entered();
    expect(await gate.merge(SUB, claim(a1), { ...company, delivery })).toEqual({ outcome: 'held' });
    expect(JSON.parse((await test.redis.hget(test.keys.job(SUB, 'evt_1'), 'data')) ?? '')).toEqual(delivery);
    expect(await gate.pending(SUB, WS)).toEqual({ events: 2, oldest: '1700000000000-1' });
    expect(await gate.turn(SUB, claim(a2))).toEqual({ outcome: 'left', next: 'evt_1' });
    expect(await gate.leave(SUB, claim(a1))).toEqual({ outcome: 'left', next: 'evt_4' });
  });

  it('leave with it', async () => {
    const gate = await entered();
    expect(await gate.leaveTogether(SUB, claim(a1), company)).toEqual({ outcome: 'left', next: 'evt_4' });
    expect(await gate.pending(SUB, WS)).toEqual({ events: 1, oldest: '1700000000000-4' });
    expect(await gate.turn(SUB, claim(a4))).toEqual({ outcome: 'go' });
  });

  it('stay where they are when their head was taken over, is not the head, or has other followers', async () => {
    const gate = await entered();
    const lanes = (): Promise<string[]> => test.redis.zrangebylex(test.keys.groups(SUB), '-', '+');
    const before = await lanes();
    const others = { followers: ['evt_3'] };
    const answers = [
      await gate.merge(SUB, claim(a1, 'lost'), { ...company, delivery }),
      await gate.leaveTogether(SUB, claim(a1, 'lost'), company),
      await gate.leaveTogether(SUB, claim(a2), others),
      await gate.leaveTogether(SUB, claim(a1), others),
      await gate.leaveTogether(SUB, claim(a1), { followers: [...company.followers, 'evt_4', 'evt_5'] }),
    ];
    expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['taken-over']));
    expect(await lanes()).toEqual(before);
  });

  it('are not merged into a job that is gone', async () => {
    const gate = await entered();
    await test.redis.del(test.keys.job(SUB, 'evt_1'));
    expect(await gate.merge(SUB, claim(a1), { ...company, delivery })).toEqual({ outcome: 'taken-over' });
    expect(await gate.pending(SUB, WS)).toMatchObject({ events: 4 });
  });
});
