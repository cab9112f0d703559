import { describe, expect, it, onTestFinished } from 'vitest';
import { createDispatcher, type Dispatcher } from '../../src/delivery/dispatcher.js';
import type { RecordGate } from '../../src/delivery/groups/gate.js';
import { offsetBefore } from '../../src/events/log-id.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import { aSubscription, fanOutDeps, openGate } from '../support/fan-out.js';
import { appendEvents, changeEvent, changesOf, firstChangesOf } from '../support/events.js';
import { eventually } from '../support/eventually.js';
import { useFanOutProcesses } from '../support/fan-out-processes.js';
import { rowsOfGate } from '../support/night.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';

const test = useRedis();

function operationsOf(subscriptions: readonly Subscription[], extras: { gate?: RecordGate } = {}): Dispatcher {
  const deps = fanOutDeps(test);
  const operations = createDispatcher({ ...deps, ...extras, subscriptions });
  onTestFinished(() => operations.close());
  return operations;
}

const RECORDS = 5;
const EACH = 12;
const EVENTS = Array.from({ length: EACH * RECORDS }, (_, n) =>
  changeEvent({ record: `r${n % RECORDS}`, sequence: Math.floor(n / RECORDS) + 1 }),
);

describe('replay', () => {
  it('sends a range again to one subscription, with the same ids and marked as a replay', async () => {
    const seen: string[] = [];
    const subscriptions = ['a', 'b'].map((name) =>
      aSubscription(name, ({ id }, { replay }) => void seen.push(`${name} ${id} ${replay}`)),
    );
    const { append, settled } = await runFanOut(test, subscriptions);
    const logIds = await append(1, 2, 3, 4);
    await settled();
    const operations = operationsOf(subscriptions);
    seen.length = 0;

    const result = await operations.replay({ subscription: 'b', from: logIds[1]!, to: logIds[2]! });
    await settled();

    const ids = [2, 3].map((sequence) => changeEvent({ record: 'r1', sequence }).id);
    expect(result).toEqual({
      id: expect.stringMatching(/^r[0-9a-f]{10}$/) as string,
      events: 2,
      reached: { acme: logIds[2] },
      interrupted: false,
      atLeastSeconds: null,
    });
    expect(seen).toEqual(ids.map((id) => `b ${id} true`));
    await operations.replay({ subscription: 'b', from: 'beginning' });
    await settled();
    expect(seen).toHaveLength(2 + 4);
  });

  it('replay: by type and by conditions, only what the subscription selects too', async () => {
    const seen: string[] = [];
    const subscription = aSubscription('s', ({ subject }, { replay }) => {
      if (replay) seen.push(subject);
    });
    const { settled, dispatcher } = await runFanOut(test, [subscription]);
    await appendEvents(test, [
      changeEvent({ record: 'new', sequence: 1, verb: 'created' }),
      changeEvent({ record: 'up', sequence: 2 }),
      changeEvent({ record: 'memo', sequence: 3, list: 'memo' }),
      changeEvent({ record: 'other', sequence: 4, changed: ['전화'] }),
    ]);
    await settled();
    const call = {
      subscription: 's',
      from: 'beginning',
      types: ['crm.person.*'],
      where: { 담당자: { rises: true } },
    } as const;
    expect(await dispatcher.replay({ ...call, dryRun: true })).toMatchObject({ events: 1 });
    expect(seen).toEqual([]);
    expect(await dispatcher.replay(call)).toMatchObject({ events: 1 });
    await eventually(() => expect(seen).toEqual(['up']));
    await expect(dispatcher.replay({ ...call, where: { 담당자: 3 } })).rejects.toMatchObject({
      code: 'CF_USAGE',
      message: expect.stringMatching(/^replay, where, 담당자: /) as string,
    });
  });

  it('replay: of failed events, those that ended dead, are no dead letters now, and were not delivered since', async () => {
    const seen: string[] = [];
    let broken = ['a', 'b', 'c'];
    const handle = ({ subject }: { subject: string }) => {
      if (broken.includes(subject)) throw new PermanentError('never');
      seen.push(subject);
    };
    const options = { receipts: { ageMs: 86_400_000, number: 1_000 } };
    const { settled, dispatcher, dead } = await runFanOut(test, [aSubscription('s', handle, options)]);
    const events = firstChangesOf('a', 'b', 'c', 'd');
    await appendEvents(test, events);
    await settled();
    const letters = await eventuallyDead(dead, 3);
    broken = [];
    const idOf = (record: string) => letters.find(({ event }) => event.subject === record)?.id ?? '';
    await dead.retry({ ids: [idOf('a')] });
    await eventually(() => expect(seen).toEqual(['d', 'a']));
    const call = { subscription: 's', from: 'beginning', failed: true } as const;
    expect(await dispatcher.replay({ ...call, dryRun: true })).toMatchObject({ events: 0 });
    await dead.drop({ ids: [idOf('b')] });
    expect(await dispatcher.replay(call)).toMatchObject({ events: 1 });
    await eventually(() => expect(seen).toEqual(['d', 'a', 'b']));
  });

  it('replay: is stopped, says how far it came, and the status shows it meanwhile', async () => {
    await appendEvents(test, Array.from({ length: 20 }, () => EVENTS).flat());
    const subscription = aSubscription('s', () => undefined);
    const { settled, dispatcher } = await runFanOut(test, [subscription], { highWater: 300 });
    await settled(60_000);
    await dispatcher.pause('s', 'so that the queue is full');
    const replaying = dispatcher.replay({ subscription: 's', from: 'beginning' });
    const shown = await eventually(async () => {
      const [status] = await dispatcher.statistics();
      expect(status?.replays).toMatchObject([{ workspace: 'acme', sent: expect.any(Number) as number }]);
      expect(status?.replays[0]?.sent).toBeGreaterThan(200);
      return status?.replays[0];
    });
    expect(await dispatcher.stopReplay('s', 'r0000000000')).toEqual({ stopped: 0, dropped: 0 });
    const stopped = await dispatcher.stopReplay('s', shown?.id);
    const { events } = await replaying;
    expect(stopped).toEqual({ stopped: 1, dropped: events });
    expect(events).toBeGreaterThan(200);
    expect(events).toBeLessThan(20 * EVENTS.length);
    const [status] = await dispatcher.statistics();
    expect(status).toMatchObject({ replays: [], lagEvents: 0 });
  });

  it('replay: what is new waits for two seconds of it at the rate, and it says how long it takes', async () => {
    const seen: string[] = [];
    const rate = { requests: 10, perSeconds: 1 };
    const about = { concurrency: 1, destination: 'd1', rate };
    const handle: Subscription['handle'] = ({ subject }, { replay }) =>
      void seen.push(`${replay ? 'again ' : ''}${subject}`);
    await appendEvents(test, firstChangesOf(...Array.from({ length: 40 }, (_, at) => `r${at}`)));
    const { dispatcher } = await runFanOut(test, [aSubscription('s', handle, about)]);
    await eventually(() => expect(seen).toHaveLength(40));
    const call = { subscription: 's', from: 'beginning' };
    expect(await dispatcher.replay({ ...call, dryRun: true })).toMatchObject({ events: 40, atLeastSeconds: 4 });
    await dispatcher.replay({ ...call, wait: false });
    await eventually(() => expect(seen).toContain('again r0'));
    const before = seen.length;
    await appendEvents(test, firstChangesOf('new'));
    await eventually(() => expect(seen).toContain('new'));
    // Two seconds at the rate, and what was entered while it was logged.
    expect(seen.indexOf('new') - before).toBeLessThan(25);
    expect(seen.filter((one) => one.startsWith('again')).length).toBeLessThan(40);
    expect((await dispatcher.stopReplay('s')).dropped).toBeGreaterThan(0);
    await eventually(async () => expect((await dispatcher.statistics())[0]?.lagEvents).toBe(0));
    expect(seen.filter((one) => one.startsWith('again')).length).toBeLessThan(40);
  });

  it('replay: large events, of which the log returns few at once, are all sent', async () => {
    const large = Array.from({ length: 60 }, (_, n) => changeEvent({ record: `r${n}`, sequence: 1, weight: 300_000 }));
    await appendEvents(test, large);
    let handled = 0;
    const subscription = aSubscription('s', (_event, { replay }) => void (handled += replay ? 1 : 0));
    const { settled, dispatcher } = await runFanOut(test, [subscription]);
    await settled();

    const counted = await dispatcher.replay({ subscription: 's', from: 'beginning', dryRun: true });
    const sent = await dispatcher.replay({ subscription: 's', from: 'beginning' });
    await settled();

    expect([counted.events, sent.events, handled]).toEqual([60, 60, 60]);
  });

  /** Replays everything while newer changes of the same records come in. Returns the handled events per record. */
  async function replayBesideNews(extras: { gate?: RecordGate } = {}) {
    const handled = new Map<string, string[]>();
    const running = new Set<string>();
    const together: string[] = [];
    const subscription = aSubscription('s', async ({ subject, data }, { replay }) => {
      if (running.has(subject)) together.push(subject);
      running.add(subject);
      // Long enough for others to overtake it if nothing prevents that.
      for (let turns = (data.sequence * 7) % 5; turns >= 0; turns -= 1) await test.redis.ping();
      handled.set(subject, [...(handled.get(subject) ?? []), `${replay ? 'again ' : ''}${data.sequence}`]);
      running.delete(subject);
    });
    const { settled } = await runFanOut(test, [subscription], extras);
    await appendEvents(test, EVENTS);
    const count = (): number => [...handled.values()].flat().length;
    await settled();
    await eventually(() => expect(count()).toBe(EVENTS.length));
    const news = Array.from({ length: RECORDS }, (_, n) => changeEvent({ record: `r${n}`, sequence: EACH + 1 }));

    await Promise.all([
      operationsOf([subscription], extras).replay({ subscription: 's', from: 'beginning', to: `${Date.now()}-0` }),
      appendEvents(test, news),
    ]);
    await eventually(() => expect(count()).toBeGreaterThanOrEqual(2 * EVENTS.length + RECORDS));
    return { handled, together };
  }
  const replayed = (handled: ReadonlyMap<string, string[]>): string[][] =>
    [...handled.values()].map((all) => all.filter((one) => one.startsWith('again')).slice(0, EACH));
  const inOrder = Array.from({ length: RECORDS }, () => Array.from({ length: EACH }, (_, n) => `again ${n + 1}`));

  it('keeps the order per record and does not overlap newer changes of it', async () => {
    const { handled, together } = await replayBesideNews();
    expect(together).toEqual([]);
    expect(replayed(handled)).toEqual(inOrder);
  });

  it('control: without the gate it overlaps newer changes', async () => {
    const { handled, together } = await replayBesideNews({ gate: openGate(test) });
    expect(together.length + Number(JSON.stringify(replayed(handled)) !== JSON.stringify(inOrder))).toBeGreaterThan(0);
  });

  it('reports how far it came when interrupted, and an invalid offset is refused', async () => {
    const subscription = aSubscription('s', () => undefined);
    const { append, settled } = await runFanOut(test, [subscription]);
    await append(1, 2);
    await settled();
    const operations = operationsOf([subscription]);

    const stopped = await operations.replay({ subscription: 's', from: 'beginning', signal: AbortSignal.abort() });
    expect(stopped).toEqual({ id: '', events: 0, reached: {}, interrupted: true, atLeastSeconds: null });
    await expect(operations.replay({ subscription: 's', from: 'lunch' })).rejects.toMatchObject({
      code: 'CF_USAGE',
      message: 'replay, from: found "lunch"; allowed: "beginning", a time (2026-03-01T09:00:00Z) or a log id.',
    });
    await expect(operations.replay({ subscription: 'x', from: 'beginning' })).rejects.toMatchObject({
      message: 'There is no subscription "x". Known: "s".',
    });
  });
});

describe('replay: its process is killed', () => {
  const { launchFrozen } = useFanOutProcesses(test);
  const LONG = Array.from({ length: 600 }, (_, n) =>
    changeEvent({ record: `r${n % 20}`, sequence: Math.floor(n / 20) + 1 }),
  );

  it.each(rowsOfGate(1, ['moving-2', 'entered-backfill-2']))(
    'a dispatcher finishes it: every event once, in order per record (%s)',
    async (freeze) => {
      const handled = new Map<string, number[]>();
      const subscription = aSubscription('s', ({ subject, data }, { replay }) => {
        if (replay) handled.set(subject, [...(handled.get(subject) ?? []), data.sequence]);
      });
      const first = await runFanOut(test, [subscription]);
      await appendEvents(test, LONG);
      await first.settled();
      await first.dispatcher.stop();
      await launchFrozen('replay', { freeze });

      await runFanOut(test, [subscription]);

      const each = Array.from({ length: 30 }, (_, n) => n + 1);
      const expected = Array.from({ length: 20 }, (_, n) => [`r${n}`, each] as const);
      await eventually(() => expect([...handled].toSorted()).toEqual(expected.toSorted()));
      const deps = fanOutDeps(test);
      await eventually(async () => expect(await deps.backfills.tasks('s')).toEqual([]));
    },
  );
});

describe('start: a new subscription', () => {
  it('begins at a log id or at a time', async () => {
    const logIds = await appendEvents(test, changesOf('r1', 1, 2, 3));
    const seen: string[] = [];
    const starts = { from: logIds[1]!, always: '2020-01-01T00:00:00Z', later: '2200-01-01', never: 'now' };
    const subscriptions = Object.entries(starts).map(([name, start]) =>
      aSubscription(name, ({ data }) => void seen.push(`${name} ${data.sequence}`), { start }),
    );

    const { append, settled } = await runFanOut(test, subscriptions, { configReadAtMs: Number.MAX_SAFE_INTEGER });
    await append(4);

    await settled();
    await eventually(() =>
      expect(seen.toSorted()).toEqual([
        ...[1, 2, 3, 4].map((sequence) => `always ${sequence}`),
        ...[2, 3, 4].map((sequence) => `from ${sequence}`),
        'never 4',
      ]),
    );
    expect(offsetBefore('5-0')).toBe('4-4294967295');
  });
});
