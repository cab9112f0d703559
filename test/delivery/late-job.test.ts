import type { Job } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { addJobs, deliveryIdOf } from '../../src/delivery/deliveries.js';
import type { JobData } from '../../src/delivery/queues.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { WORKSPACE, changeEvent } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';

const test = useRedis();
const idOf = ([logId = '']: readonly string[]): string =>
  deliveryIdOf(changeEvent({ record: 'r1', sequence: 1 }).id, logId);

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
  const queue = queues.of('s');
  const job = (await queue.getJob(id)) as Job<JobData>;
  const { data, name } = job;
  await eventually(() => job.remove());

  const entry = { id, logId: data.logId, kind: data.kind, type: name, atMs: 0 };
  await addJobs(queue, [{ workspace: WORKSPACE, group: data.group, entry }]);

  await eventually(async () => expect(await (await queue.getJob(id))?.isCompleted()).toBe(true));
  return seen;
}

describe.each(['record', 'none'] as const)('order %s: a job that is added after its event was handled', (order) => {
  it('order: it does not run', async () => {
    expect(await addForgottenJob(order)).toEqual([]);
  });

  // A dispatcher that was suspended before it added the job adds it after the retry, which has removed the dead letter.
  it('order: the job of an event whose dead letter was retried does not run again', async () => {
    const seen: number[] = [];
    const handle = ({ data }: ChangeEvent): void => {
      seen.push(data.sequence);
      if (seen.length === 1) throw new PermanentError('not this time');
    };
    const { append, settled, queues, dead } = await runFanOut(test, [aSubscription('s', handle, { order })]);
    const queue = queues.of('s');
    const id = idOf(await append(1));
    const [letter] = await eventuallyDead(dead, 1);
    const { data, name } = (await queue.getJob(id)) as Job<JobData>;
    expect(await dead.retry({ ids: [letter?.id ?? ''] })).toBe(1);
    await settled();

    const entry = { id, logId: data.logId, kind: data.kind, type: name, atMs: 0 };
    await addJobs(queue, [{ workspace: WORKSPACE, group: data.group, entry }]);

    await eventually(async () => expect(await (await queue.getJob(id))?.isCompleted()).toBe(true));
    expect(seen).toEqual([1, 1]);
  });
});
