import { describe, expect, it } from 'vitest';
import { scheduledJob } from '../../src/delivery/scheduled-job.js';
import type { DigestSummary } from '../../src/delivery/handlers/handler.js';
import { createOffsetStore } from '../../src/delivery/offsets.js';
import { aSubscription } from '../support/fan-out.js';
import { appendEvents, changeEvent, WORKSPACE } from '../support/events.js';
import { eventually } from '../support/eventually.js';
import { killedImport } from '../support/killed-imports.js';
import { rowsOfGate } from '../support/night.js';
import { useProcesses } from '../support/process.js';
import { runFanOut } from '../support/running-fan-out.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const start = useProcesses();
const PEOPLE = Array.from({ length: 3_000 }, (_, at) =>
  changeEvent({ record: `p${at}`, sequence: 1, verb: 'created' }),
);
const offset = (): Promise<string | null> => createOffsetStore(test.redis, test.keys).get(WORKSPACE, 's');

describe('most per minute', () => {
  it('most per minute: an import is twenty messages and one of the rest', async () => {
    const single: string[] = [];
    const digests: DigestSummary[] = [];
    const subscription = aSubscription('s', ({ subject }) => void single.push(subject), {
      mostPerMinute: 20,
      handleDigest: (digest) => void digests.push(digest),
    });
    const { queues, dispatcher } = await runFanOut(test, [subscription]);
    const ids = await appendEvents(test, PEOPLE);
    const job = await eventually(async () => {
      const found = await scheduledJob(queues.of('s'), WORKSPACE);
      expect(found).toBeDefined();
      return found;
    });
    await eventually(() => expect(single).toHaveLength(20));
    expect(await offset()).toBe(ids[19]);
    const [waiting] = await dispatcher.statistics();
    expect(waiting).toMatchObject({ waiting: 0, delayed: 0, lateSince: null });

    // The minute is over, and the digest is not sent: it may be waiting for its next attempt.
    await test.redis.del(test.keys.allowance('s'));
    const processes = await runFanOut(test, [subscription]);
    await processes.dispatcher.statistics();
    expect(await offset()).toBe(ids[19]);
    await job?.promote();

    await eventually(async () => expect(await offset()).toBe(ids.at(-1)));
    expect(digests.map(({ count }) => count)).toEqual([2_980]);
    expect([...single].sort()).toEqual(
      PEOPLE.slice(0, 20)
        .map(({ subject }) => subject)
        .sort(),
    );
  });

  it('most per minute: control: without it each of them is a message', async () => {
    const single: string[] = [];
    await runFanOut(test, [aSubscription('s', ({ subject }) => void single.push(subject))]);
    await appendEvents(test, PEOPLE.slice(0, 100));
    await eventually(() => expect(single).toHaveLength(100));
  });

  it('most per minute: the minute is over, and events are messages again', async () => {
    const single: string[] = [];
    const subscription = aSubscription('s', ({ subject }) => void single.push(subject), {
      mostPerMinute: 2,
      handleDigest: () => undefined,
    });
    await runFanOut(test, [subscription]);
    await appendEvents(test, PEOPLE.slice(0, 2));
    await eventually(() => expect(single).toHaveLength(2));
    const key = test.keys.allowance('s');
    const ttl = await test.redis.pttl(key);
    expect(ttl).toBeGreaterThan(50_000);
    expect(ttl).toBeLessThanOrEqual(61_000);
    await test.redis.del(key);
    await appendEvents(test, PEOPLE.slice(2, 4));
    await eventually(() => expect(single).toHaveLength(4));
  });

  it.each(rowsOfGate(1, [1, 2, 3, 4, 5, 6]))(
    'most per minute: nothing is missing of an import whose process is killed at any point (seed %i)',
    async (seed) => {
      const { ids, singles, digests } = await killedImport(test, { start, seed, people: 600, kills: 4 });
      const told = [...singles, ...digests].flat();
      expect([...new Set(told)].sort()).toEqual([...ids].sort());
      // A kill between handling and leaving repeats what is in flight, ten at most.
      expect(new Set(singles.flat()).size).toBeLessThanOrEqual(20);
      expect(singles.length + digests.length).toBeLessThanOrEqual(40);
    },
    180_000,
  );
});
