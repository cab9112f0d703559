import { describe, expect, it } from 'vitest';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import { ChangefeedError } from '../../src/kit/errors.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';

const test = useRedis();

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);
const failing = (fail: { now: boolean }, seen: number[]): Subscription =>
  aSubscription('s', ({ data }) => {
    seen.push(data.sequence);
    if (fail.now) throw new PermanentError('not now');
  });

describe('dead letters', () => {
  it('retried ones are handled again in the order in which they died, with all their attempts', async () => {
    const [fail, seen] = [{ now: true }, [] as number[]];
    const { append, settled, dead } = await runFanOut(test, [failing(fail, seen)]);
    await append(1, 2, 3);
    await settled();
    await eventuallyDead(dead, 3);
    fail.now = false;

    expect(await dead.retry()).toBe(3);

    await eventually(() => expect(seen).toEqual([1, 2, 3, 1, 2, 3]));
    expect(await dead.count()).toBe(0);
    expect(await settled()).toEqual({ outcome: 'handled' });
  });

  it('those of the same millisecond are retried in the order of the log', async () => {
    const [fail, seen] = [{ now: true }, [] as number[]];
    const { append, settled, dead, queues } = await runFanOut(test, [failing(fail, seen)]);
    const sequences = Array.from({ length: 20 }, (_, index) => index + 1);
    await append(...sequences);
    await settled();
    const letters = await eventuallyDead(dead, sequences.length);
    const queue = queues.of('s');
    const failed = queue.toKey('failed');
    for (const { id } of letters) {
      await test.redis.zadd(failed, 1_000_000, id);
      await test.redis.hset(queue.toKey(id), 'finishedOn', 1_000_000);
    }
    fail.now = false;

    await dead.retry();

    await eventually(() => expect(seen).toHaveLength(2 * sequences.length));
    expect(seen.slice(sequences.length)).toEqual(sequences);
  });
});

describe('dead letters: what is known of them', () => {
  it('the last twenty attempts, those before a retry first', async () => {
    const retry = { attempts: 15, delayMs: 1, maxDelayMs: 1 };
    const fails = aSubscription('s', () => Promise.reject(new Error('not now')), { retry });
    const { append, dead } = await runFanOut(test, [fails]);
    await append(1);
    await eventuallyDead(dead, 1);
    const attempts = async () => (await dead.list())[0]?.attempts.map(({ attempt }) => attempt);
    expect(await attempts()).toEqual(range(1, 15));

    expect(await dead.retry()).toBe(1);

    await eventually(async () => expect(await attempts()).toEqual([...range(11, 15), ...range(1, 15)]));
  });

  it('their type, and the code and the text of their failure, by which they are chosen in any case', async () => {
    const refused = new ChangefeedError('CF_DELIVERY_REFUSED', { message: 'The ledger is closed' });
    const retry = { attempts: 1, delayMs: 1, maxDelayMs: 1 };
    const { append, dead } = await runFanOut(test, [aSubscription('s', () => Promise.reject(refused), { retry })]);
    await append(1, 2);
    await eventuallyDead(dead, 2);
    const found = async (filter: object): Promise<number> => (await dead.list(filter)).length;
    const filters = [{ reason: 'cf_delivery' }, { reason: 'the LEDGER' }, { types: ['crm.person.*'] }, {}];
    for (const filter of filters) expect({ filter, found: await found(filter) }).toEqual({ filter, found: 2 });
    for (const filter of [{ reason: 'quota' }, { types: ['crm.todo.*'] }, { ids: ['evt_1'] }, { limit: 0 }])
      expect({ filter, found: await found(filter) }).toEqual({ filter, found: 0 });
  });

  it('all of them, in the order in which they died, where they are more than are read at once', async () => {
    const [fail, seen] = [{ now: true }, [] as number[]];
    const { append, settled, dead } = await runFanOut(test, [failing(fail, seen)]);
    await append(...range(1, 205));
    await settled(60_000);
    await eventually(async () => expect(await dead.count()).toBe(205));
    fail.now = false;
    seen.length = 0;

    expect(await dead.retry()).toBe(205);

    await eventually(() => expect(seen).toEqual(range(1, 205)));
  });
});

describe("dead letters with whenDead: 'hold'", () => {
  const holding = (whenDead: 'hold' | 'release', fail: { now: boolean }, seen: string[]): Subscription =>
    aSubscription(
      's',
      ({ subject, data }) => {
        if (subject === 'r1' && data.sequence === 1 && fail.now) throw new PermanentError('not now');
        seen.push(`${subject} ${data.sequence}`);
      },
      { whenDead },
    );
  const started = async (whenDead: 'hold' | 'release') => {
    const [fail, seen] = [{ now: true }, [] as string[]];
    const running = await runFanOut(test, [holding(whenDead, fail, seen)]);
    const [first] = await running.append(1, 2, 3);
    await eventuallyDead(running.dead, 1);
    await appendEvents(test, [changeEvent({ record: 'r2', sequence: 1 })]);
    await eventually(() => expect(seen).toContain('r2 1'));
    return { ...running, fail, seen, first };
  };

  it('later events of the record wait, and run in order after the retry', async () => {
    const { dead, fail, seen, settled } = await started('hold');
    expect(seen).toEqual(['r2 1']);

    fail.now = false;
    expect(await dead.retry()).toBe(1);

    expect(await settled()).toEqual({ outcome: 'handled' });
    expect(seen).toEqual(['r2 1', 'r1 1', 'r1 2', 'r1 3']);
  });

  it('later events keep waiting when it dies again, and run when it is dropped', async () => {
    const { dead, seen, settled } = await started('hold');
    await dead.retry();
    await eventually(async () => expect((await dead.list())[0]?.attempts).toHaveLength(2));
    expect(seen).toEqual(['r2 1']);

    expect(await dead.drop()).toBe(1);

    expect(await settled()).toEqual({ outcome: 'handled' });
    expect(seen).toEqual(['r2 1', 'r1 2', 'r1 3']);
  });

  it("control: with 'release' they do not wait", async () => {
    const { seen, settled } = await started('release');
    await settled();
    expect(seen.filter((one) => one.startsWith('r1'))).toEqual(['r1 2', 'r1 3']);
  });
});
