import { describe, expect, it } from 'vitest';
import type { DigestSummary, Subscription } from '../../src/delivery/handlers/handler.js';
import { RetryAfterError } from '../../src/delivery/handlers/errors.js';
import { message } from '../../src/delivery/handlers/message/message.js';
import { webhook } from '../../src/delivery/handlers/webhook/webhook.js';
import { scheduledJob } from '../../src/delivery/scheduled-job.js';
import { appendEvents, changeEvent, WORKSPACE } from '../support/events.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { runFanOut } from '../support/running-fan-out.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const TO = 'd1';
const CHAT = { destination: TO, concurrency: 1 };
const people = (count: number) =>
  Array.from({ length: count }, (_, at) => changeEvent({ record: `p${at}`, sequence: 1, verb: 'created' }));

/** An endpoint that refuses each event once, as 429 does. */
function refusingOnce(retryAfter: string) {
  const attempts: { at: number; subject: string; by: string }[] = [];
  const arrived: string[] = [];
  const handle =
    (by: string): Subscription['handle'] =>
    ({ subject }) => {
      const isFirst = !attempts.some((one) => one.subject === subject && one.by === by);
      attempts.push({ at: performance.now(), subject, by });
      if (isFirst) throw new RetryAfterError('429', { retryAfter });
      arrived.push(subject);
    };
  return { attempts, arrived, handle };
}

describe('destination', () => {
  it('destination: messages of which each is refused once arrive in their order, and nothing is sent before the time is over', async () => {
    const { attempts, arrived, handle } = refusingOnce('300ms');
    await runFanOut(test, [aSubscription('s', handle('s'), CHAT)]);
    await appendEvents(test, people(4));
    await eventually(() => expect(arrived).toHaveLength(4));
    expect(arrived).toEqual(['p0', 'p1', 'p2', 'p3']);
    expect(attempts.map(({ subject }) => subject)).toEqual(['p0', 'p0', 'p1', 'p1', 'p2', 'p2', 'p3', 'p3']);
    const waits = attempts.map(({ at }, index) => at - (attempts[index - 1]?.at ?? 0)).filter((_, at) => at % 2 === 1);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(295);
  });

  it('destination: control: without it, the events that follow are sent while the first one waits', async () => {
    const { attempts, handle, arrived } = refusingOnce('300ms');
    await runFanOut(test, [aSubscription('s', handle('s'), { concurrency: 1 })]);
    await appendEvents(test, people(4));
    await eventually(() => expect(arrived).toHaveLength(4));
    expect(attempts.slice(0, 4).map(({ subject }) => subject)).toEqual(['p0', 'p1', 'p2', 'p3']);
  });

  it('destination: after a refusal no subscription sends to it, and then the refused event goes alone', async () => {
    const attempts: string[] = [];
    let answer: () => void = () => undefined;
    const first: Subscription['handle'] = async () => {
      attempts.push('first');
      if (attempts.length === 1) throw new RetryAfterError('429', { retryAfter: '500ms' });
      await new Promise<void>((resolve) => (answer = resolve));
    };
    await runFanOut(test, [
      aSubscription('first', first, { ...CHAT, on: ['crm.person.*'] }),
      aSubscription('second', () => void attempts.push('second'), { ...CHAT, on: ['crm.todo.*'] }),
    ]);
    await appendEvents(test, people(1));
    await eventually(() => expect(attempts).toHaveLength(1));
    await appendEvents(test, [changeEvent({ record: 't', sequence: 1, list: 'todo' })]);
    await eventually(() => expect(attempts).toHaveLength(2));
    expect(attempts).toEqual(['first', 'first']);
    expect(Number(await test.redis.hget(test.keys.pace(TO), 'alone'))).toBeGreaterThan(Date.now());
    answer();
    await eventually(() => expect(attempts).toEqual(['first', 'first', 'second']));
  });

  it('destination: a long refusal has the queue rest, the refused event first in it, and a stop waits for nothing', async () => {
    const { attempts, handle } = refusingOnce('1h');
    const { queues, pool, dispatcher } = await runFanOut(test, [aSubscription('s', handle('s'), CHAT)]);
    const events = people(3);
    await appendEvents(test, events);
    const [first = ''] = await eventually(async () => {
      // A refused event is tried for its turn once more before the queue rests.
      expect(await queues.of('s').getRateLimitTtl()).toBeGreaterThan(0);
      const waiting = await queues.of('s').getRanges(['wait'], 0, -1);
      expect([waiting.length, await queues.of('s').getActiveCount()]).toEqual([3, 0]);
      return waiting.toReversed();
    });
    expect(attempts).toHaveLength(1);
    expect(first).toContain(events[0]?.id);
    const [status] = await dispatcher.statistics();
    expect(status).toMatchObject({ waiting: 3, active: 0, failures: 1 });
    await pool.stop();
  });

  it('destination: a stop does not wait for a run that waits for its turn', async () => {
    const { handle, attempts } = refusingOnce('9s');
    const { pool, queues } = await runFanOut(test, [aSubscription('s', handle('s'), CHAT)]);
    await appendEvents(test, people(1));
    await eventually(async () => expect([attempts.length, await queues.of('s').getActiveCount()]).toEqual([1, 1]));
    const startedAt = performance.now();
    await pool.stop();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(await queues.of('s').getWaitingCount()).toBe(1);
  });

  it('destination: the rate counts for all that post there, in all processes', async () => {
    const times: number[] = [];
    const rate = { requests: 20, perSeconds: 1 };
    const subscriptions = [1, 2, 3, 4].map((at) =>
      aSubscription(`s${at}`, () => void times.push(performance.now()), { destination: TO, rate }),
    );
    await runFanOut(test, subscriptions);
    await runFanOut(test, subscriptions);
    await appendEvents(test, people(10));
    await eventually(() => expect(times).toHaveLength(40));
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(39 * 50 - 50);
  });

  it('destination: several rules share the limit of a minute, and their events are messages or in a digest', async () => {
    const singles: string[] = [];
    const digests: DigestSummary[] = [];
    const names = Array.from({ length: 5 }, (_, at) => `s${at}`);
    const subscriptions = names.map((name) =>
      aSubscription(name, ({ subject }) => void singles.push(`${name} ${subject}`), {
        ...CHAT,
        mostPerMinute: 4,
        handleDigest: (digest) => void digests.push(digest),
      }),
    );
    const { queues } = await runFanOut(test, subscriptions);
    await appendEvents(test, people(30));
    /** The minute is over. */
    const nextMinute = async (): Promise<void> => {
      await test.redis.del(test.keys.allowance(TO), test.keys.sent(TO));
      for (const name of names)
        await (await scheduledJob(queues.of(name), WORKSPACE))?.promote().catch(() => undefined);
    };
    const planned = async (): Promise<number> =>
      (await Promise.all(names.map((name) => scheduledJob(queues.of(name), WORKSPACE)))).filter(Boolean).length;
    await eventually(async () => expect([singles.length, await planned()]).toEqual([4, 5]));
    await nextMinute();
    await eventually(() => expect(digests).toHaveLength(4));
    await eventually(async () => expect(await planned()).toBe(1));
    await nextMinute();
    await eventually(() => expect(digests).toHaveLength(5));
    expect(singles).toHaveLength(4);
    expect(singles.length + digests.reduce((sum, { count }) => sum + count, 0)).toBe(5 * 30);
  });

  it('destination: is the same for all that post to a host and path, and does not show them', () => {
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const url = 'https://chat.example/hooks/T0/B0/secret';
    const destinations = [
      message({ name: 'a', url }),
      message({ name: 'b', url: `${url}?thread=1` }),
      webhook({ name: 'c', url, secret }),
    ].map(({ destination }) => destination);
    expect(new Set(destinations).size).toBe(1);
    expect(destinations[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(message({ name: 'd', url: `${url}2` }).destination).not.toBe(destinations[0]);
  });
});
