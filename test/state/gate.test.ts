import { describe, expect, it } from 'vitest';
import type { Claim, Entry } from '../../src/dispatch/ports.js';
import { RedisRecordGate } from '../../src/state/gate.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const SUB = 'ops';
const WS = 'acme';

const entry = (group: string | null, n: number): Entry => ({
  workspace: WS,
  group,
  logId: `1700000000000-${n}`,
  eventId: `evt_${n}`,
});
const claim = (of: Entry, holder = 'w1', isRetried = false): Claim => ({ ...of, holder, retried: isRetried });
/** The position that a retried dead letter gets; its run must hold the lock of the job. */
const retried = async (gate: RedisRecordGate, of: Entry, life = 1): Promise<Claim> => {
  await test.redis.set(test.keys.jobLock(SUB, of.eventId), 'token');
  const answer = await gate.reenter(SUB, of, { token: 'token', life });
  return { ...claim(of, `w2/${life + 1}`, true), position: answer.outcome === 'placed' ? answer.position : '' };
};
const gateOf = (): RedisRecordGate => new RedisRecordGate(test.redis, test.keys);

describe('the record gate', () => {
  it('gate: only the first event of each record may run', async () => {
    const gate = gateOf();
    const [a1, b1, a2] = [entry('a', 1), entry('b', 2), entry('a', 3)];

    const standings = await gate.enter(SUB, WS, [a1, b1, a2]);

    expect(standings.map(({ standing }) => standing)).toEqual(['head', 'head', 'behind']);
    expect(await gate.turn(SUB, claim(a2))).toEqual({ outcome: 'wait', behind: 'evt_1' });
    expect(await gate.turn(SUB, claim(a1))).toEqual({ outcome: 'go' });
    expect(await gate.leave(SUB, claim(a1))).toEqual({ outcome: 'left', next: 'evt_3' });
    expect(await gate.turn(SUB, claim(a2))).toEqual({ outcome: 'go' });
  });

  it('gate: an event that was entered before is not entered again, whether pending or done', async () => {
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

  it('gate: a repeated leave changes nothing and names the head again', async () => {
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

  it('gate: a run whose job another process has taken over cannot make the event leave', async () => {
    const gate = gateOf();
    const [a1, a2] = [entry('a', 1), entry('a', 2)];
    await gate.enter(SUB, WS, [a1, a2]);
    await gate.turn(SUB, claim(a1, 'lost'));
    await gate.turn(SUB, claim(a1, 'successor'));

    expect(await gate.leave(SUB, claim(a1, 'lost'))).toEqual({ outcome: 'taken-over' });
    expect(await gate.turn(SUB, claim(a2))).toEqual({ outcome: 'wait', behind: 'evt_1' });
    expect(await gate.leave(SUB, claim(a1, 'successor'))).toEqual({ outcome: 'left', next: 'evt_2' });
  });

  it('gate: a retried dead letter runs after the events entered so far and before later ones', async () => {
    const gate = gateOf();
    const [a1, a2, a3] = [entry('a', 1), entry('a', 2), entry('a', 3)];
    await gate.enter(SUB, WS, [a1, a2]);
    await gate.turn(SUB, claim(a1));
    await gate.leave(SUB, claim(a1));

    const again = await retried(gate, a1);
    expect(await gate.turn(SUB, again)).toEqual({ outcome: 'wait', behind: 'evt_2' });
    await gate.enter(SUB, WS, [a3]);
    await gate.turn(SUB, claim(a2));
    expect(await gate.leave(SUB, claim(a2))).toEqual({ outcome: 'left', next: 'evt_1' });
    expect(await gate.turn(SUB, again)).toEqual({ outcome: 'go' });
    expect(await gate.leave(SUB, again)).toEqual({ outcome: 'left', next: 'evt_3' });
    expect(await gate.pending(SUB, WS)).toEqual({ events: 1, oldest: '1700000000000-3' });
  });

  it('gate: of two starts of a job the later one runs the event, even if the earlier one asks last', async () => {
    const gate = gateOf();
    const a1 = entry('a', 1);
    await gate.enter(SUB, WS, [a1]);
    await gate.turn(SUB, claim(a1, 'successor/10'));

    expect(await gate.turn(SUB, claim(a1, 'lost/9'))).toEqual({ outcome: 'taken-over' });
    expect(await gate.leave(SUB, claim(a1, 'successor/10'))).toEqual({ outcome: 'left', next: null });
  });

  it('gate: a retried dead letter that has left stays out; the next retry gets a new position', async () => {
    const gate = gateOf();
    const [a1, a2] = [entry('a', 1), entry('a', 2)];
    await gate.enter(SUB, WS, [a1, a2]);
    await gate.turn(SUB, claim(a1));
    await gate.leave(SUB, claim(a1));
    await gate.turn(SUB, claim(a2));
    await gate.leave(SUB, claim(a2));
    const again = await retried(gate, a1);
    await gate.turn(SUB, again);
    await gate.leave(SUB, again);

    expect(await retried(gate, a1)).toEqual(again);
    expect(await gate.turn(SUB, again)).toEqual({ outcome: 'left', next: null });
    const onceMore = await retried(gate, a1, 5);
    expect(await gate.turn(SUB, onceMore)).toEqual({ outcome: 'go' });
    expect(onceMore.position).not.toBe(again.position);
  });

  it('gate: a run that lost its job cannot enter a dead letter again', async () => {
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

  it('gate: records whose keys share a prefix do not wait for each other', async () => {
    const gate = gateOf();
    const standings = await gate.enter(SUB, WS, [entry('a', 1), entry('ab', 2), entry('a/b', 3), entry('a', 4)]);

    expect(standings.map(({ standing }) => standing)).toEqual(['head', 'head', 'head', 'behind']);
  });

  it('gate: events run in the order of the log when log ids get more digits', async () => {
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

  it('gate: an event whose ordering group was lost runs instead of being dropped', async () => {
    const gate = gateOf();

    expect(await gate.turn(SUB, claim(entry('a', 1)))).toEqual({ outcome: 'go' });
    expect(await gate.leave(SUB, claim(entry('a', 1)))).toEqual({ outcome: 'left', next: null });
  });

  it('gate: pending events without an ordering group are counted per workspace', async () => {
    const gate = gateOf();
    await gate.enter(SUB, WS, [entry(null, 1), entry(null, 2)]);
    await gate.enter(SUB, 'other', [{ ...entry(null, 7), workspace: 'other' }]);

    await gate.leave(SUB, claim(entry(null, 1)));

    expect(await gate.pending(SUB, WS)).toEqual({ events: 1, oldest: '1700000000000-2' });
    expect(await gate.pending(SUB, 'other')).toEqual({ events: 1, oldest: '1700000000000-7' });
  });

  it('gate: handled events leave only the highest position entered', async () => {
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
  it('gate: a held dead letter makes its followers wait and runs first when it is retried', async () => {
    const gate = gateOf();
    const [a1, a2] = [entry('a', 1), entry('a', 2)];
    await gate.enter(SUB, WS, [a1, a2]);
    await gate.turn(SUB, claim(a1));

    expect(await gate.hold(SUB, claim(a1))).toEqual({ outcome: 'held' });
    expect(await gate.pending(SUB, WS)).toEqual({ events: 1, oldest: '1700000000000-2' });
    expect(await gate.turn(SUB, claim(a2))).toEqual({ outcome: 'wait', behind: 'evt_1' });
    const again = await retried(gate, a1);
    expect(await gate.hold(SUB, claim(a1))).toEqual({ outcome: 'taken-over' });
    expect(await gate.turn(SUB, again)).toEqual({ outcome: 'go' });
    expect(await gate.leave(SUB, again)).toEqual({ outcome: 'left', next: 'evt_2' });
  });

  it('gate: a dead letter cannot be held by a run that lost its job, nor dropped while it runs', async () => {
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

describe('followers in the record gate', () => {
  const company = { followers: ['evt_2', 'evt_3'] };
  const delivery = { event: { id: 'evt_m' }, workspace: WS, logId: '1', group: 'a', mergedUnder: 'evt_1' } as never;
  const four = [1, 2, 3, 4].map((n) => entry('a', n));
  const [a1, a2, , a4] = four as [Entry, Entry, Entry, Entry];

  async function entered(): Promise<RedisRecordGate> {
    const gate = gateOf();
    await gate.enter(SUB, WS, four);
    await gate.turn(SUB, claim(a1));
    await test.redis.hset(test.keys.job(SUB, 'evt_1'), 'data', '{}');
    return gate;
  }

  it('gate: only the head gets its followers, in order and up to the count', async () => {
    const gate = await entered();
    expect(await gate.followers(SUB, claim(a1), 10)).toEqual(['evt_2', 'evt_3', 'evt_4']);
    expect(await gate.followers(SUB, claim(a1), 2)).toEqual(['evt_2', 'evt_3']);
    expect(await gate.followers(SUB, claim(a2), 10)).toEqual([]);
  });

  it('gate: merged followers leave, and the head stays with a job that carries them', async () => {
    const gate = await entered();
    expect(await gate.merge(SUB, claim(a1), { ...company, delivery })).toEqual({ outcome: 'held' });
    expect(JSON.parse((await test.redis.hget(test.keys.job(SUB, 'evt_1'), 'data')) ?? '')).toEqual(delivery);
    expect(await gate.pending(SUB, WS)).toEqual({ events: 2, oldest: '1700000000000-1' });
    expect(await gate.turn(SUB, claim(a2))).toEqual({ outcome: 'left', next: 'evt_1' });
    expect(await gate.leave(SUB, claim(a1))).toEqual({ outcome: 'left', next: 'evt_4' });
  });

  it('gate: followers of a batch leave together with the head', async () => {
    const gate = await entered();
    expect(await gate.leaveTogether(SUB, claim(a1), company)).toEqual({ outcome: 'left', next: 'evt_4' });
    expect(await gate.pending(SUB, WS)).toEqual({ events: 1, oldest: '1700000000000-4' });
    expect(await gate.turn(SUB, claim(a4))).toEqual({ outcome: 'go' });
  });

  it('gate: followers stay when the claim is not the head, was taken over or names other followers', async () => {
    const gate = await entered();
    const members = (): Promise<string[]> => test.redis.zrangebylex(test.keys.groups(SUB), '-', '+');
    const before = await members();
    const others = { followers: ['evt_3'] };
    const answers = [
      await gate.merge(SUB, claim(a1, 'lost'), { ...company, delivery }),
      await gate.leaveTogether(SUB, claim(a1, 'lost'), company),
      await gate.leaveTogether(SUB, claim(a2), others),
      await gate.leaveTogether(SUB, claim(a1), others),
      await gate.leaveTogether(SUB, claim(a1), { followers: [...company.followers, 'evt_4', 'evt_5'] }),
    ];
    expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['taken-over']));
    expect(await members()).toEqual(before);
  });

  it('gate: followers are not merged into a job that is gone', async () => {
    const gate = await entered();
    await test.redis.del(test.keys.job(SUB, 'evt_1'));
    expect(await gate.merge(SUB, claim(a1), { ...company, delivery })).toEqual({ outcome: 'taken-over' });
    expect(await gate.pending(SUB, WS)).toMatchObject({ events: 4 });
  });
});

describe('the position of a retried dead letter', () => {
  // Requested by the person's retry, not by a run.
  const a1 = entry('a', 1);
  const first = claim(a1, 'w1/1');
  const retrier = { token: null, life: 1 };

  /** The first event of a record is a dead letter; its job has these fields. */
  async function dead(job: Record<string, string> | null): Promise<RedisRecordGate> {
    const gate = new RedisRecordGate(test.redis, test.keys);
    await gate.enter(SUB, WS, [a1]);
    await gate.turn(SUB, first);
    await gate.leave(SUB, first);
    if (job !== null) await test.redis.hset(test.keys.job(SUB, 'evt_1'), job);
    return gate;
  }
  const members = (): Promise<string[]> => test.redis.zrange(test.keys.groups(SUB), '0', '-1');

  it('gate: a position that a retry was given once is found by its run', async () => {
    const gate = await dead({ name: 'x' });
    const given = await gate.reenter(SUB, a1, retrier);
    expect(given).toMatchObject({ outcome: 'placed' });
    expect(await gate.reenter(SUB, a1, retrier)).toEqual(given);
    await test.redis.set(test.keys.jobLock(SUB, 'evt_1'), 'token');
    expect(await gate.reenter(SUB, a1, { token: 'token', life: 1 })).toEqual(given);
    expect(await members()).toHaveLength(1);
  });

  it('gate: a retry gives no second position when its run has left', async () => {
    const gate = await dead({ name: 'x' });
    await test.redis.set(test.keys.jobLock(SUB, 'evt_1'), 'token');
    const given = await gate.reenter(SUB, a1, { token: 'token', life: 1 });
    const run: Claim = {
      ...a1,
      holder: 'w2/2',
      retried: true,
      position: given.outcome === 'placed' ? given.position : '',
    };
    await gate.turn(SUB, run);
    await gate.leave(SUB, run);
    await gate.reenter(SUB, a1, retrier);
    expect(await members()).toEqual([]);
  });

  it.each([
    ['has ended', { name: 'x', finishedOn: '1' }],
    ['is gone', null],
  ])('gate: a retry gives no position to an event whose job %s', async (_what, job) => {
    const gate = await dead(job);
    expect(await gate.reenter(SUB, a1, retrier)).toEqual({ outcome: 'taken-over' });
    expect(await members()).toEqual([]);
  });
});
