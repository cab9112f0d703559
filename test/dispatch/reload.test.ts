import { describe, expect, it } from 'vitest';
import type { Handle, Subscription } from '../../src/handlers/handler.js';
import { aSubscription, appendEvents, changeEvent } from '../support/fan-out.js';
import { eventually } from '../support/eventually.js';
import { useRedis } from '../support/redis.js';
import { runFanOut, type RunningFanOut } from '../support/running-fan-out.js';

const test = useRedis();

interface Hearing {
  /** `record sequence`, by subscription, in the order of handling. */
  heard: Map<string, string[]>;
  /** The names of closed subscriptions, in order. */
  closed: string[];
  subscribe: (name: string) => Subscription;
}

function hearing(): Hearing {
  const heard = new Map<string, string[]>();
  const closed: string[] = [];
  return {
    heard,
    closed,
    subscribe(name) {
      const handle: Handle = ({ subject, data }) => {
        heard.set(name, [...(heard.get(name) ?? []), `${subject} ${data.sequence}`]);
      };
      const close = (): Promise<void> => Promise.resolve(void closed.push(name));
      return aSubscription(name, handle, { close });
    },
  };
}

const applyTo = async ({ dispatcher, pool }: RunningFanOut, subscriptions: readonly Subscription[]): Promise<void> => {
  await Promise.all([dispatcher.apply(subscriptions), pool.apply(subscriptions)]);
};

describe('reload: subscriptions change while events keep coming', () => {
  it('handlers of a removed subscription finish, and other subscriptions do not wait for them', async () => {
    let release = (): void => undefined;
    const blocked = new Promise<void>((resolve) => (release = resolve));
    const steps: string[] = [];
    const slow = aSubscription(
      'slow',
      async () => {
        steps.push('begun');
        await blocked;
        steps.push('ended');
      },
      { close: () => Promise.resolve(void steps.push('closed')) },
    );
    const { heard, subscribe } = hearing();
    const fanOut = await runFanOut(test, [slow]);
    await appendEvents(test.redis, test.keys, [changeEvent({ record: 'a', sequence: 1 })]);
    await eventually(() => expect(steps).toEqual(['begun']));

    const applied = applyTo(fanOut, [subscribe('new')]);
    await eventually(() => expect(heard.get('new')).toEqual(['a 1']));
    expect(steps).toEqual(['begun']);
    release();
    await applied;

    expect(steps).toEqual(['begun', 'ended', 'closed']);
  });

  it('does not prevent the process from stopping', async () => {
    const stuck = aSubscription(
      'stuck',
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('interrupted')));
        }),
    );
    const fanOut = await runFanOut(test, [stuck], { stopGraceMs: 100 });
    await appendEvents(test.redis, test.keys, [changeEvent({ record: 'a', sequence: 1 })]);
    await eventually(async () => expect((await fanOut.dispatcher.statistics())[0]?.active).toBe(1));

    const { subscribe, closed } = hearing();
    const applied = applyTo(fanOut, [subscribe('new')]);
    await fanOut.pool.stop();
    await applied;

    expect(closed.length).toBeLessThanOrEqual(1);
    expect(await fanOut.queues.of('stuck').getWaitingCount()).toBe(1);
  });
});
