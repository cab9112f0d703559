import type { Job } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { addJobs, deliveryIdOf } from '../../src/delivery/deliveries.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import type { Handle, Subscription } from '../../src/delivery/handlers/handler.js';
import type { JobData, Queues } from '../../src/delivery/queues.js';
import { createRecordGate, type RecordGate } from '../../src/delivery/groups/gate.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { WORKSPACE, changeEvent } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';

const test = useRedis();
const ORDERS = ['record', 'none'] as const;
const ONE_ATTEMPT = { attempts: 1, delayMs: 1, maxDelayMs: 1 };

const change = (sequence: number) => changeEvent({ record: 'r1', sequence });
const gate = (): RecordGate => createRecordGate(test.redis, test.keys);

describe.each(ORDERS)('order %s: an event that is logged twice', (order) => {
  it('identity: it is delivered twice, and the events of its record go on', async () => {
    const seen: number[] = [];
    const subscription = aSubscription('s', ({ data }) => void seen.push(data.sequence), { order });
    const { append, settled } = await runFanOut(test, [subscription]);
    await append(1);
    await settled();

    await append(1, 2);

    await settled();
    expect(seen.toSorted()).toEqual([1, 1, 2]);
    expect(await gate().pending('s', WORKSPACE)).toMatchObject({ events: 0 });
  });

  it('identity: when both die, each retry is an attempt', async () => {
    let fails = true;
    const seen: number[] = [];
    const handle: Handle = ({ data }) => {
      if (fails) throw new Error('no luck');
      seen.push(data.sequence);
    };
    const { append, settled, dead } = await runFanOut(test, [
      aSubscription('s', handle, { order, retry: ONE_ATTEMPT }),
    ]);
    for (const round of [1, 2]) {
      fails = true;
      await append(1);
      const [letter] = await eventuallyDead(dead, 1);
      expect(letter?.id).toBe(change(1).id);
      fails = false;
      expect(await dead.retry({ ids: [change(1).id] })).toBe(1);
      await settled();
      expect(seen).toHaveLength(round);
    }
    expect(await dead.count()).toBe(0);
  });

  it('identity: a retry that dies again can be retried again', async () => {
    let left = 4;
    const handle: Handle = () => {
      left -= 1;
      if (left > 0) throw new Error('no luck');
    };
    const { append, settled, dead } = await runFanOut(test, [
      aSubscription('s', handle, { order, retry: ONE_ATTEMPT }),
    ]);
    await append(1);
    for (const alive of [3, 2, 1]) {
      const [letter] = await eventuallyDead(dead, 1);
      expect({ left, id: letter?.id }).toEqual({ left: alive, id: change(1).id });
      expect(await dead.retry()).toBe(1);
      await eventually(() => expect(left).toBe(alive - 1));
    }
    await settled();
    expect(await dead.count()).toBe(0);
  });
});

const idOf = ([logId = '']: readonly string[]): string => deliveryIdOf(change(1).id, logId);

/** Adds the job as it was, and waits until it is completed. */
async function addAgain(queues: Queues, { id = '', data, name }: Job<JobData>): Promise<void> {
  const queue = queues.of('s');
  const entry = { id, logId: data.logId, kind: data.kind, type: name, atMs: 0 };
  await addJobs(queue, [{ workspace: WORKSPACE, group: data.group, entry }]);
  await eventually(async () => expect(await (await queue.getJob(id))?.isCompleted()).toBe(true));
}

/** Events 1 and 2 of a record are handled, and BullMQ forgets the job of event 1, which is then added again. Returns what is handled after that. */
async function addForgottenJob(order: Subscription['order']): Promise<number[]> {
  const seen: number[] = [];
  const { append, settled, queues } = await runFanOut(test, [
    aSubscription('s', ({ data }) => void seen.push(data.sequence), { order }),
  ]);
  const id = idOf(await append(1));
  await append(2);
  await settled();
  seen.length = 0;
  const job = (await queues.of('s').getJob(id)) as Job<JobData>;
  await eventually(() => job.remove());
  await addAgain(queues, job);
  return seen;
}

describe.each(ORDERS)('order %s: a job that is added after its event was handled', (order) => {
  it('order: it does not run', async () => {
    expect(await addForgottenJob(order)).toEqual([]);
  });

  // A dispatcher that was suspended before it added the job adds it after the retry, which has removed the dead letter.
  it('order: the job of an event whose dead letter was retried does not run again', async () => {
    const seen: number[] = [];
    const handle: Handle = ({ data }) => {
      seen.push(data.sequence);
      if (seen.length === 1) throw new PermanentError('not this time');
    };
    const { append, settled, queues, dead } = await runFanOut(test, [aSubscription('s', handle, { order })]);
    const id = idOf(await append(1));
    const [letter] = await eventuallyDead(dead, 1);
    const job = (await queues.of('s').getJob(id)) as Job<JobData>;
    expect(await dead.retry({ ids: [letter?.id ?? ''] })).toBe(1);
    await settled();

    await addAgain(queues, job);
    expect(seen).toEqual([1, 1]);
  });
});
