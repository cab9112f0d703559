import { describe, expect, it } from 'vitest';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import { createRecordGate } from '../../src/delivery/groups/gate.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';

const test = useRedis();
const retry = { attempts: 100, delayMs: 3_600_000, maxDelayMs: 3_600_000 };
const events = (sequence: number, ...records: string[]) => records.map((record) => changeEvent({ record, sequence }));
const append = (...all: Parameters<typeof appendEvents>[1]) => appendEvents(test, all);

describe('skip', () => {
  it.each(['record', 'none'] as const)(
    'skip: with order %s, what waits is dropped and counted, and what is logged later is delivered',
    async (order) => {
      const handled: string[] = [];
      let isBroken = true;
      const handle = ({ subject, data }: { subject: string; data: { sequence: number } }) => {
        if (isBroken) throw new Error('not today');
        handled.push(`${subject} ${data.sequence}`);
      };
      const running = await runFanOut(
        test,
        [aSubscription('ops', handle, { order, retry, receipts: { ageMs: 86_400_000, number: 1_000 } })],
        { highWater: 5 },
      );
      await append(...events(1, 'a', 'b'), ...events(2, 'a', 'b'));
      // Two or four wait for a retry; the rest is read no further than the high water.
      await eventually(async () =>
        expect((await running.queues.of('ops').getJobCounts('delayed'))['delayed']).toBe(order === 'none' ? 4 : 2),
      );
      await running.dispatcher.pause('ops', 'maintenance');
      await append(...Array.from({ length: 400 }, (_, n) => changeEvent({ record: `r${n}`, sequence: 1 })));
      // The reader enters one batch more, and rests then.
      const counted = await eventually(async () => {
        const found = await running.dispatcher.skip('ops', { dryRun: true });
        expect(found.queued).toBeGreaterThan(4);
        expect(found.unread + found.queued).toBe(404);
        return found;
      });
      const dropped = await running.dispatcher.skip('ops', {});
      expect(dropped).toEqual(counted);
      expect(dropped.unread + dropped.queued).toBe(404);
      expect(dropped.running).toBe(0);
      expect((await running.dispatcher.statistics())[0]).toMatchObject({ waiting: 0, delayed: 0, lagEvents: 0 });
      const receipts = await running.dispatcher.deliveries({ subscription: 'ops', outcome: 'skipped', limit: 500 });
      expect(receipts).toHaveLength(404);
      expect(new Set(receipts.map(({ reason }) => reason))).toEqual(new Set(['dropped']));
      isBroken = false;
      await append(...events(3, 'a', 'r7'));
      await running.dispatcher.resume('ops');
      await running.settled();
      expect(handled.toSorted()).toEqual(['a 3', 'r7 3']);
      expect(await running.dispatcher.skip('ops', {})).toEqual({ unread: 0, queued: 0, running: 0 });
    },
  );

  it('skip: a dead letter that is held stays, and what waits behind it is dropped', async () => {
    const handled: string[] = [];
    let isBroken = true;
    const handle = ({ subject, data }: { subject: string; data: { sequence: number } }) => {
      if (isBroken) throw new PermanentError('never');
      handled.push(`${subject} ${data.sequence}`);
    };
    const running = await runFanOut(test, [aSubscription('ops', handle, { whenDead: 'hold' })]);
    await append(...events(1, 'a'), ...events(2, 'a'), ...events(3, 'a'));
    await eventuallyDead(running.dead, 1);
    await eventually(async () => expect((await running.dispatcher.statistics())[0]?.lagEvents).toBe(2));
    expect(await running.dispatcher.skip('ops', {})).toEqual({ unread: 0, queued: 2, running: 0 });
    isBroken = false;
    await append(...events(4, 'a'));
    expect(await running.dead.retry()).toBe(1);
    await eventually(() => expect(handled).toEqual(['a 1', 'a 4']));
  });

  it('skip: what is handled at this moment ends, and nothing behind it runs', async () => {
    const handled: string[] = [];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const handle = async ({ subject, data }: { subject: string; data: { sequence: number } }) => {
      if (data.sequence === 1) await held;
      handled.push(`${subject} ${data.sequence}`);
    };
    const running = await runFanOut(test, [aSubscription('ops', handle)]);
    await append(...events(1, 'a'), ...events(2, 'a'));
    await eventually(async () => expect((await running.dispatcher.statistics())[0]?.active).toBe(1));
    await eventually(async () => expect((await running.dispatcher.statistics())[0]?.lagEvents).toBe(2));
    expect(await running.dispatcher.skip('ops', {})).toEqual({ unread: 0, queued: 1, running: 1 });
    await append(...events(3, 'a'));
    release();
    await running.settled();
    expect(handled).toEqual(['a 1', 'a 3']);
  });

  it('skip: after a kill between the group and its job, the job that is left handles nothing', async () => {
    const handled: string[] = [];
    const running = await runFanOut(test, [aSubscription('ops', ({ subject }) => void handled.push(subject))]);
    await running.dispatcher.pause('ops', 'maintenance');
    const [, last = ''] = await append(...events(1, 'a', 'b'));
    await eventually(async () => expect((await running.dispatcher.statistics())[0]?.waiting).toBe(2));
    const gate = createRecordGate(test.redis, test.keys);
    for (const head of await gate.heads('ops', ['acme'])) await gate.skip('ops', head, last);
    expect(await running.dispatcher.skip('ops', {})).toEqual({ unread: 0, queued: 0, running: 0 });
    await running.dispatcher.resume('ops');
    await append(...events(2, 'c'));
    await eventually(() => expect(handled).toEqual(['c']));
    expect((await running.dispatcher.statistics())[0]).toMatchObject({ waiting: 0, lagEvents: 0 });
  });

  it('skip: a receipt also says what was dropped where the log no longer has the event', async () => {
    let failure: Error = new PermanentError('never');
    const handle = (): never => {
      throw failure;
    };
    const receipts = { ageMs: 86_400_000, number: 1_000 };
    const running = await runFanOut(test, [aSubscription('ops', handle, { retry, receipts })]);
    await append(...events(1, 'a'));
    await eventuallyDead(running.dead, 1);
    failure = new Error('not today');
    await append(...events(1, 'b'));
    await test.redis.xtrim(test.keys.log('acme'), 'MAXLEN', 1);
    expect(await running.dead.retry()).toBe(1);
    await eventually(async () => expect((await running.queues.of('ops').getJobCounts('delayed'))['delayed']).toBe(2));
    expect(await running.dispatcher.skip('ops', {})).toMatchObject({ queued: 2 });
    const rows = await running.dispatcher.deliveries({ subscription: 'ops', outcome: 'skipped' });
    expect(rows.map(({ record, reason }) => `${record} ${reason}`).toSorted()).toEqual(['a dropped', 'b dropped']);
  });
});
