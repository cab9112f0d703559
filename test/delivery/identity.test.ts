import { describe, expect, it } from 'vitest';
import type { Handle } from '../../src/delivery/handlers/handler.js';
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
