/** What is left of each delivery: who got it, when, after how many attempts, with what answer. */
import { describe, expect, it } from 'vitest';
import type { DeliveryRow } from '../../src/delivery/receipts/delivery-row.js';
import { mergedEventId } from '../../src/events/envelope.js';
import { PermanentError, RetryAfterError } from '../../src/delivery/handlers/errors.js';
import type { Handle, Subscription } from '../../src/delivery/handlers/handler.js';
import { createReceiptStore } from '../../src/delivery/receipts/receipts.js';
import type { Receipt } from '../../src/delivery/receipts/receipt.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { WORKSPACE, appendEvents, changeEvent, changesOf } from '../support/events.js';
import { useFanOutProcesses } from '../support/fan-out-processes.js';
import { useRedis } from '../support/redis.js';
import { bringForward } from '../support/scheduled.js';
import { eventuallyDead, runFanOut, type RunningFanOut } from '../support/running-fan-out.js';

const test = useRedis();
const { launch, launchFrozen, sequencesOf } = useFanOutProcesses(test);
const store = () => createReceiptStore(test.redis, test.keys);
const DAY_MS = 86_400_000;
const HERE = { subscription: 's', workspace: WORKSPACE };
const KEPT = { ageMs: DAY_MS, number: 1_000 };
const aKeeper = (name: string, handle: Handle, more: Partial<Subscription> = {}): Subscription =>
  aSubscription(name, handle, { receipts: KEPT, ...more });
const first = changeEvent({ record: 'r1', sequence: 1 });

async function all(subscription = 's'): Promise<Receipt[]> {
  const found: Receipt[] = [];
  for await (const receipt of store().search({ ...HERE, subscription }, { sinceMs: 0 })) found.push(receipt);
  return found;
}

const short = ({ outcome, attempt, status, reason, words }: DeliveryRow): unknown[] =>
  [outcome, attempt, status, reason, words].filter((one) => one !== null);

const rowsOf = async ({ dispatcher }: RunningFanOut, query = {}): Promise<unknown[]> =>
  (await dispatcher.deliveries(query)).map(short);

describe('receipts: a delivery', () => {
  it('says who got it, when, with what answer', async () => {
    const running = await runFanOut(test, [
      aKeeper('s', () => ({ status: 202 })),
      aKeeper('others', () => undefined, { on: ['crm.todo.*'] }),
      aSubscription('silent', () => undefined),
    ]);
    const [logId] = await running.append(1);
    await running.settled();

    const rows = await running.dispatcher.deliveries({ event: first.id });

    const event = { workspace: WORKSPACE, eventId: first.id, logId, type: first.type, list: 'people', record: 'r1' };
    const nothing = { attempt: 0, at: null, ms: null, status: null, reason: null, words: null };
    const rest = { nextAttemptAt: null, origin: null, mergedInto: null, digest: null, refusedBy: null };
    const refusedBy = { option: 'on', condition: null, wanted: null, found: null };
    const time = expect.stringMatching(/^\d{4}-.*Z$/) as string;
    expect(rows).toEqual([
      {
        ...{ subscription: 's', outcome: 'delivered', ...event, ...nothing, ...rest },
        ...{ attempt: 1, at: time, ms: expect.any(Number) as number, status: 202 },
      },
      { subscription: 'others', outcome: 'not selected', ...event, ...nothing, ...rest, refusedBy },
      { subscription: 'silent', outcome: 'no receipt', ...event, ...nothing, ...rest },
    ]);
    expect(await running.dispatcher.deliveries({ event: `${WORKSPACE}@${logId}` })).toEqual(rows);
    expect(await rowsOf(running, { list: 'people', record: 'r1', subscription: 's' })).toEqual([['delivered', 1, 202]]);
    expect(await rowsOf(running, { list: 'people', record: 'r2' })).toEqual([]);
    expect(await rowsOf(running, { event: 'evt_0' })).toEqual([]);
  });

  it('that fails first has one for each attempt, with the words of the receiver', async () => {
    const running = await runFanOut(
      test,
      [
        aKeeper('s', (_event, { attempt }) => {
          if (attempt === 1) throw Object.assign(new RetryAfterError('busy', { retryAfter: 1 }), { status: 503 });
        }),
      ],
      { logAgeMs: DAY_MS },
    );
    await running.append(1);
    await running.settled();

    expect(await rowsOf(running)).toEqual([
      ['delivered', 2],
      ['retry', 1, 503, 'RetryAfterError', 'busy'],
    ]);
    expect(await rowsOf(running, { outcome: 'failed' })).toEqual([['retry', 1, 503, 'RetryAfterError', 'busy']]);
    const [retry] = await running.dispatcher.deliveries({ outcome: 'failed' });
    expect(Date.parse(retry!.nextAttemptAt!)).toBeGreaterThanOrEqual(Date.parse(retry!.at!));
  });

  it.each(['release', 'hold'] as const)(
    'that dies has one, and another when it is dropped, with whenDead: %s',
    async (whenDead) => {
      const running = await runFanOut(test, [
        aKeeper('s', () => Promise.reject(new PermanentError('no such customer')), { whenDead }),
      ]);
      await running.append(1);
      await eventuallyDead(running.dead, 1);

      // Its words may live longer than the log: they are only in the dead letter.
      expect(await rowsOf(running)).toEqual([['dead', 1, 'PermanentError']]);
      await running.dead.drop();
      expect(await rowsOf(running)).toEqual([
        ['skipped', 0, 'dropped'],
        ['dead', 1, 'PermanentError'],
      ]);
    },
  );

  it('of a dead letter that is sent again has another one', async () => {
    let isWell = false;
    const running = await runFanOut(test, [
      aKeeper('s', () => {
        if (!isWell) throw new PermanentError('not yet');
      }),
    ]);
    await running.append(1);
    await eventuallyDead(running.dead, 1);
    isWell = true;
    await running.dead.retry();
    await running.settled();

    expect(await rowsOf(running, { event: first.id })).toEqual([
      ['delivered', 1],
      ['dead', 1, 'PermanentError'],
    ]);
  });

  it('that its handler need not see is skipped, and says why', async () => {
    let looks = 0;
    const running = await runFanOut(test, [
      // It selects when the event is read from the log, and no longer when it is handled.
      aKeeper('s', () => undefined, { where: () => (looks += 1) === 1 }),
    ]);
    await running.append(1);
    await running.settled();
    expect(await rowsOf(running)).toEqual([['skipped', 0, 'where']]);
  });

  it('that waits is pending, and so is what is behind it', async () => {
    const running = await runFanOut(test, [
      aKeeper('s', () => Promise.reject(new RetryAfterError('later', { retryAfter: '1h' }))),
    ]);
    const [, second] = await running.append(1, 2);
    await eventually(async () => expect(await rowsOf(running, { outcome: 'failed' })).toHaveLength(1));
    await eventually(async () => {
      const waiting = await running.dispatcher.deliveries({ outcome: 'pending' });
      expect(waiting.map(({ logId, attempt, nextAttemptAt }) => [logId, attempt, nextAttemptAt !== null])).toEqual([
        [second, 0, false],
        [expect.any(String), 1, true],
      ]);
    });
    const behind = changeEvent({ record: 'r1', sequence: 2 });
    expect(await rowsOf(running, { event: behind.id })).toEqual([['pending', 0]]);
    // The row of the attempt says when the next one is.
    expect(await rowsOf(running, { event: first.id })).toEqual([['retry', 1, 'RetryAfterError']]);
  });

  it('of a replay says so', async () => {
    const running = await runFanOut(test, [aKeeper('s', () => undefined)]);
    await running.append(1);
    await running.settled();
    await running.dispatcher.replay({ subscription: 's', from: 'beginning' });
    await running.settled();
    const rows = await running.dispatcher.deliveries({ event: first.id });
    expect(rows.map(({ outcome, origin }) => [outcome, origin])).toEqual([
      ['delivered', expect.stringMatching(/^r[0-9a-f]{10}$/)],
      ['delivered', null],
    ]);
  });
});

describe('receipts: changes that are merged', () => {
  const settle = { stillMs: 200, atMostMs: 2_000 };
  const events = changesOf('r1', 1, 2);

  it('say into which event, and who got that one', async () => {
    const running = await runFanOut(test, [aKeeper('s', () => undefined, { settle })]);
    await running.append(1, 2);
    await running.settled();
    const into = mergedEventId(events.map(({ id }) => id));
    const rows = await running.dispatcher.deliveries({ event: events[1]!.id });
    // Both may have ended in the same millisecond.
    expect(rows.map(({ outcome, eventId, mergedInto }) => [outcome, eventId, mergedInto]).toSorted()).toEqual([
      ['delivered', into, null],
      ['skipped', events[1]!.id, into],
    ]);
  });

  it('and cancel out have one each', async () => {
    const back = changeEvent({ record: 'r1', sequence: 2 });
    const undone = { ...back, data: { ...back.data, after: first.data.before, changes: first.data.changes } };
    const running = await runFanOut(test, [aKeeper('s', () => undefined, { settle })]);
    await appendEvents(test, [first, undone]);
    await running.settled();
    expect(await rowsOf(running)).toEqual([
      ['skipped', 0, 'cancelled-out'],
      ['skipped', 0, 'cancelled-out'],
    ]);
  });
});

describe('receipts: after kill -9', () => {
  it('a repetition writes no second one', async () => {
    launch('dispatch');
    await appendEvents(test, changesOf('a', 1, 2, 3));
    await launchFrozen('handle', { freeze: 'left' });
    launch('handle');
    await eventually(async () => expect(await sequencesOf('done', 'a')).toEqual([1, 2, 3]));
    await eventually(async () => expect(await all()).toHaveLength(3));
    expect((await all()).map(({ outcome, attempt }) => [outcome, attempt])).toEqual(
      Array.from({ length: 3 }, () => ['delivered', 1]),
    );
  });

  it('the death that was written before has one', async () => {
    launch('dispatch');
    await appendEvents(test, [changeEvent({ record: 'a', sequence: 1 })]);
    await launchFrozen('handle', { freeze: 'left', dies: '1' });
    launch('handle');
    await eventually(async () =>
      expect(await test.redis.zcard(`${test.keys.subscriptionQueuePrefix('s')}:s:failed`)).toBe(1),
    );
    expect((await all()).map(({ outcome, error }) => [outcome, error])).toEqual([['dead', 'PermanentError']]);
  });
});

const receipt = (n: number, endedAtMs: number): Receipt => ({
  ...{ outcome: 'delivered', endedAtMs, ms: 5, attempt: 1, status: 200, eventId: `evt_${n}` },
  ...{ logId: `${endedAtMs}-0`, workspace: WORKSPACE, recordId: `r${n}`, type: 'crm.person.updated' },
});

describe('receipts: are kept', () => {
  it('by number, to an entry of the stream, the newest of them', async () => {
    const nowMs = Date.now();
    for (let n = 0; n < 3_000; n += 50)
      await store().keep(HERE, { receipts: Array.from({ length: 50 }, (_, i) => receipt(n + i, nowMs)), most: 500 });
    const kept = await all();
    expect(kept.length).toBeGreaterThanOrEqual(500);
    expect(kept.length).toBeLessThan(800);
    const newest = Array.from({ length: kept.length }, (_, n) => `evt_${2_999 - n}`);
    expect(kept.map(({ eventId }) => eventId)).toEqual(newest);
  });

  it('by age: the old ones are not found, and are dropped by entries', async () => {
    const nowMs = Date.now();
    await store().keep(HERE, { receipts: [receipt(1, nowMs - 2 * DAY_MS), receipt(2, nowMs - 1_000)], most: 1_000 });
    const running = await runFanOut(test, [aKeeper('s', () => undefined)]);
    expect((await running.dispatcher.deliveries()).map(({ eventId }) => eventId)).toEqual(['evt_2']);
    // The open ones become an entry, which is dropped a day later.
    await store().trim(HERE, KEPT, nowMs);
    expect(await test.redis.exists(test.keys.openReceipts('s', WORKSPACE))).toBe(0);
    expect(await all()).toHaveLength(2);
    await store().trim(HERE, KEPT, nowMs + DAY_MS + 60_000);
    expect(await all()).toEqual([]);
  });

  it('by age also behind open ones that cannot be read', async () => {
    await test.redis.set(test.keys.openReceipts('s', WORKSPACE), 'no receipts');
    await store().trim(HERE, KEPT, Date.now());
    expect(await test.redis.exists(test.keys.openReceipts('s', WORKSPACE))).toBe(0);
  });

  it('not at all with `receipts: false`, and what was kept before is removed', async () => {
    await store().keep(HERE, { receipts: [receipt(1, Date.now())], most: 1_000 });
    await store().trim(HERE, null, Date.now());
    expect(await test.redis.exists(test.keys.openReceipts('s', WORKSPACE), test.keys.receipts('s', WORKSPACE))).toBe(0);
  });

  it('for a digest: an event that is in it is found in it, and one that is not selected is not', async () => {
    let calls = 0;
    const handleDigest = (): { status: number } => {
      if ((calls += 1) === 1) throw new RetryAfterError('later', { retryAfter: 1 });
      return { status: 202 };
    };
    const running = await runFanOut(test, [
      aKeeper('s', () => undefined, {
        ...{ digest: { when: { at: '09:00' }, days: [1, 2, 3, 4, 5, 6, 7] }, digestOnly: true, handleDigest },
        where: ({ data }) => data.sequence !== 2,
      }),
    ]);
    const logged = await running.append(1, 2, 3);
    await eventually(() => bringForward(running.queues.of('s')));
    await eventually(async () => expect(await all()).toHaveLength(2));
    const digest = { fromLogId: logged[0], toLogId: logged[2], events: 2 };
    const answers = (await running.dispatcher.deliveries({ event: first.id })).map((row) => [
      ...short(row),
      row.digest,
    ]);
    expect(answers).toEqual([
      ['delivered', 2, 202, digest],
      ['retry', 1, 'RetryAfterError', digest],
    ]);
    const left = changeEvent({ record: 'r1', sequence: 2 });
    expect(await rowsOf(running, { event: left.id })).toEqual([['not selected', 0]]);
  });
});
