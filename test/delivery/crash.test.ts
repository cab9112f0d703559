import { describe, expect, it, onTestFinished } from 'vitest';
import type { DeadLetters } from '../../src/delivery/act/dead-letters.js';
import { createDispatcher, type Dispatcher } from '../../src/delivery/dispatcher.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { aSubscription, fanOutDeps } from '../support/fan-out.js';
import { appendEvents, changeEvent, firstChangesOf } from '../support/events.js';
import { useFanOutProcesses } from '../support/fan-out-processes.js';
import { isGate, rowsOfGate } from '../support/night.js';
import { useRedis } from '../support/redis.js';
import { eventually } from '../support/eventually.js';

const test = useRedis();
const { launch, launchFrozen, sequencesOf } = useFanOutProcesses(test);
const SEQUENCES = [1, 2, 3, 4, 5, 6];
const EVENTS = SEQUENCES.flatMap((sequence) => ['a', 'b'].map((record) => changeEvent({ record, sequence })));

const eventuallyDone = (record: string, expected: readonly number[]): Promise<void> =>
  eventually(async () => expect(await sequencesOf('done', record)).toEqual(expected));

/** For the other record: the kill may also have hit it after an event was done and before that was stored. */
const eventuallyComplete = (record: string): Promise<void> =>
  eventually(async () => expect([...new Set(await sequencesOf('done', record))]).toEqual(SEQUENCES));

function operations(): Dispatcher {
  const deps = fanOutDeps(test);
  const made = createDispatcher({ ...deps, subscriptions: [aSubscription('s', () => undefined)] });
  onTestFinished(() => made.close());
  return made;
}

const deadLetters = (): DeadLetters => operations().deadLetters;

const queued = (state: 'active'): Promise<number> =>
  test.redis.llen(`${test.keys.subscriptionQueuePrefix('s')}:s:${state}`);

describe('crash: a killed dispatcher', () => {
  it.each(
    rowsOfGate(1, [
      ['between entering the groups and adding the jobs', 'entered-1'],
      ['between reading the log and entering the groups', 'read'],
      ['between adding the jobs and storing the offset', 'added'],
    ]),
  )('%s loses no event, repeats none and keeps the order', async (_when, freeze) => {
    launch('handle');
    await appendEvents(test, EVENTS);

    await launchFrozen('dispatch', { freeze });
    launch('dispatch');

    await eventuallyDone('a', SEQUENCES);
    await eventuallyDone('b', SEQUENCES);
    expect(await sequencesOf('seen', 'a')).toEqual(SEQUENCES);
  });
});

describe('crash: a process killed while it handles an event', () => {
  it('another process handles the event again, before its followers', async () => {
    launch('dispatch');
    await appendEvents(test, EVENTS);

    await launchFrozen('handle', { freeze: 'handling-3' });
    launch('handle');

    await eventuallyDone('a', SEQUENCES);
    await eventuallyComplete('b');
    expect(await sequencesOf('seen', 'a')).toEqual([1, 2, 3, 3, 4, 5, 6]);
    expect(await deadLetters().count()).toBe(0);
  });

  it.skipIf(isGate)(
    'after the event has left its group, the next one runs and the event is not handled again',
    async () => {
      launch('dispatch');
      await appendEvents(test, EVENTS);

      await launchFrozen('handle', { freeze: 'left' });
      launch('handle');

      await eventuallyDone('a', SEQUENCES);
      await eventuallyComplete('b');
      expect(await sequencesOf('seen', 'a')).toEqual(SEQUENCES);
    },
  );

  it.skipIf(isGate)(
    'an event that was about to become a dead letter becomes one, and its record is released',
    async () => {
      launch('dispatch');
      await appendEvents(test, EVENTS.slice(0, 6));

      await launchFrozen('handle', { freeze: 'left', dies: '1' });
      launch('handle');

      await eventuallyDone('a', [2, 3]);
      const dead = deadLetters();
      const letters = await eventually(async () => {
        const all = await dead.list();
        expect(all.length).toBeGreaterThan(0);
        return all;
      });
      expect(letters.every(({ event, reason }) => event.data.sequence === 1 && reason === 'by plan')).toBe(true);
      expect((await sequencesOf('seen', 'a')).filter((sequence) => sequence === 1)).toEqual([1]);
    },
  );
});

describe('crash: an event that kills its process', () => {
  const RECORDS = ['poison', 'b', 'c', 'd', 'e'];

  it('is a dead letter after the most attempts, which says that the process crashed; others are handled meanwhile', async () => {
    launch('dispatch');
    await appendEvents(test, firstChangesOf('poison'));

    const env = { crashes: 'poison', attempts: '3' };
    for (const crash of [1, 2, 3]) {
      launch('handle', env);
      await eventually(async () => expect(await sequencesOf('seen', 'poison')).toHaveLength(crash));
    }
    await appendEvents(test, firstChangesOf(...RECORDS.slice(1)));
    launch('handle', env);

    const dead = deadLetters();
    const letters = await eventually(async () => {
      const all = await dead.list();
      expect(all).toHaveLength(1);
      return all;
    });
    expect(letters[0]).toMatchObject({
      event: { subject: 'poison' },
      reason: expect.stringContaining('The process crashed 3 times while it handled this event') as string,
    });
    for (const record of RECORDS.slice(1))
      await eventually(async () => expect(await sequencesOf('done', record)).toContain(1));
    expect(await sequencesOf('seen', 'poison')).toEqual([1, 1, 1]);
  });

  it('its crashes are attempts of what was in flight with it, which is handled once it is a dead letter', async () => {
    launch('dispatch');
    await appendEvents(test, firstChangesOf(...RECORDS));
    launch('handle', { crashes: 'poison', attempts: '1' });
    await eventually(async () => expect(await sequencesOf('seen', 'poison')).toHaveLength(1));
    const next = launch('handle', { attempts: '1' });
    await next.waitForLine(/^running/);
    await eventually(async () => expect(await deadLetters().count()).toBe(RECORDS.length));
    expect((await deadLetters().list()).every(({ reason }) => /^The process crashed once/.test(reason))).toBe(true);

    await deadLetters().retry({ subscription: 's' });
    for (const record of RECORDS) await eventually(async () => expect(await sequencesOf('done', record)).toContain(1));
  });

  it.skipIf(isGate)('without the limit, it makes every process crash (control)', async () => {
    launch('dispatch');
    await appendEvents(test, [changeEvent({ record: 'poison', sequence: 1 })]);

    for (const crash of [1, 2, 3, 4]) {
      launch('handle', { crashes: 'poison', attempts: '1000' });
      await eventually(async () => expect(await sequencesOf('seen', 'poison')).toHaveLength(crash));
    }

    expect(await deadLetters().count()).toBe(0);
  });
});

describe('crash: with the times of a service', () => {
  it.skipIf(isGate)(
    'an event in flight is handled again within 25 s, and a handler that blocks its process for 6 s keeps its event',
    async () => {
      launch('dispatch');
      const killed = launch('handle', { holds: 'a 1', blocks: 'b' });
      await appendEvents(test, [changeEvent({ record: 'a', sequence: 1 })]);
      await killed.waitForLine(/^holding/);
      await killed.kill('SIGKILL');
      const killedAtMs = performance.now();
      for (const _ of [1, 2]) await launch('handle', { blocks: 'b' }).waitForLine(/^running/);
      await appendEvents(test, [changeEvent({ record: 'b', sequence: 1 })]);

      await eventuallyDone('a', [1]);
      expect(performance.now() - killedAtMs).toBeLessThan(25_000);
      await eventuallyDone('b', [1]);
      expect(await sequencesOf('seen', 'b')).toEqual([1]);
    },
  );
});

describe('crash: a process killed while it disables its subscription', () => {
  it('the subscription stays disabled: another process handles no event until it is enabled, and then all in order', async () => {
    launch('dispatch');
    await appendEvents(test, EVENTS);
    await launchFrozen('handle', { freeze: 'marked', gone: '1' });

    const successor = launch('handle');
    await successor.waitForLine(/^running/);
    await eventually(async () => expect(await queued('active')).toBe(0));
    expect(await sequencesOf('done', 'a')).toEqual([]);
    expect(await operations().resume('s')).toMatchObject({ reason: 'gone' });

    await eventuallyDone('a', SEQUENCES);
    await eventuallyDone('b', SEQUENCES);
    expect(await deadLetters().count()).toBe(0);
  });
});

describe('crash: a process that was suspended for longer than its lock', () => {
  it.skipIf(isGate)('it does not start an event that another process has handled since', async () => {
    const [ofA, [ofB]] = ['a', 'b'].map((record) => EVENTS.filter(({ subject }) => subject === record)) as [
      ChangeEvent[],
      ChangeEvent[],
    ];
    launch('dispatch');
    await appendEvents(test, ofA);
    const frozen = launch('handle', { stops: ofA[2]!.id });
    await frozen.waitForLine(/^stopped/);
    const successor = launch('handle');
    await eventuallyDone('a', SEQUENCES);
    await successor.kill();

    process.kill(frozen.pid, 'SIGCONT');
    await appendEvents(test, [ofB!]);

    await eventuallyDone('b', [1]);
    expect(await sequencesOf('seen', 'a')).toEqual(SEQUENCES);
  });

  it.skipIf(isGate)('it does not release the record while another process handles the event', async () => {
    const go = (pid: number): Promise<number> => test.redis.rpush(`${test.keys.prefix}:go-${pid}`, 'go');
    launch('dispatch');
    await appendEvents(
      test,
      EVENTS.filter(({ subject }) => subject === 'a'),
    );
    const frozen = launch('handle', { holds: 'a 3' });
    await frozen.waitForLine(/^holding/);
    process.kill(frozen.pid, 'SIGSTOP');
    const successor = launch('handle', { holds: 'a 3' });
    await successor.waitForLine(/^holding/);

    process.kill(frozen.pid, 'SIGCONT');
    await go(frozen.pid);
    await eventually(async () => expect(await sequencesOf('done', 'a')).toEqual([1, 2, 3]));
    const seenWhileHeld = await sequencesOf('seen', 'a');
    await go(successor.pid);

    await eventuallyDone('a', [1, 2, 3, 3, 4, 5, 6]);
    expect(seenWhileHeld).toEqual([1, 2, 3, 3]);
    expect(await deadLetters().count()).toBe(0);
  });
});
