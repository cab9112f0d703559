import { describe, expect, it } from 'vitest';
import type { Handle, Subscription } from '../../src/handlers/handler.js';
import { aSubscription, appendEvents, changeEvent, eventLoad } from '../support/fan-out.js';
import { eventually } from '../support/eventually.js';
import { useRedis } from '../support/redis.js';
import { runFanOut, type RunningFanOut } from '../support/running-fan-out.js';

const test = useRedis();
const RECORDS = ['a', 'b', 'c'];

interface Hearing {
  /** `record sequence`, by subscription, in the order of handling. */
  heard: Map<string, string[]>;
  /** The names of closed subscriptions, in order. */
  closed: string[];
  subscribe: (name: string, version: number, changes?: Partial<Subscription>) => Subscription;
  versions: (name: string) => number[];
}

function hearing(): Hearing {
  const heard = new Map<string, string[]>();
  const byVersion = new Map<string, number[]>();
  const closed: string[] = [];
  return {
    heard,
    closed,
    versions: (name) => byVersion.get(name) ?? [],
    subscribe(name, version, changes = {}) {
      const handle: Handle = ({ subject, data }) => {
        heard.set(name, [...(heard.get(name) ?? []), `${subject} ${data.sequence}`]);
        byVersion.set(name, [...(byVersion.get(name) ?? []), version]);
      };
      const close = (): Promise<void> => Promise.resolve(void closed.push(`${name} ${version}`));
      return aSubscription(name, handle, { close, ...changes });
    },
  };
}

const applyTo = async ({ dispatcher, pool }: RunningFanOut, subscriptions: readonly Subscription[]): Promise<void> => {
  await Promise.all([dispatcher.apply(subscriptions), pool.apply(subscriptions)]);
};
const sequencesOf = (heard: readonly string[] = [], record: string): number[] =>
  heard.flatMap((one) => (one.startsWith(`${record} `) ? [Number(one.slice(record.length + 1))] : []));

describe('reload: subscriptions change while events keep coming', () => {
  it('no event is lost or repeated and the order is kept, for changed, removed and returning, and unchanged ones', async () => {
    const { heard, closed, versions, subscribe } = hearing();
    const rest = subscribe('rest', 1);
    const fanOut = await runFanOut(test, [rest, subscribe('changing', 1), subscribe('leaving', 1)]);
    const enough = async (name: string): Promise<void> => {
      const before = heard.get(name)?.length ?? 0;
      await eventually(() => expect(heard.get(name)?.length ?? 0).toBeGreaterThan(before + 30));
    };
    const end = eventLoad(test, RECORDS);
    await enough('leaving');
    for (let version = 2; version <= 4; version += 1) {
      const changing = subscribe('changing', version);
      await applyTo(fanOut, [rest, changing]);
      const left = heard.get('leaving')?.length;
      await enough('changing');
      expect(heard.get('leaving')?.length).toBe(left);
      await applyTo(fanOut, [rest, changing, subscribe('leaving', version), subscribe(`new${version}`, version)]);
      await enough('leaving');
    }
    const last = await end();
    expect(await fanOut.settled(120_000)).toEqual({ outcome: 'handled' });

    const all = Array.from({ length: last }, (_, n) => n + 1);
    for (const name of ['rest', 'changing', 'leaving', 'new4']) {
      for (const record of RECORDS) {
        expect({ name, record, sequences: sequencesOf(heard.get(name), record) }).toEqual({
          name,
          record,
          sequences: all,
        });
      }
    }
    expect(versions('changing').toSorted()).toEqual(versions('changing'));
    expect(new Set(versions('changing'))).toEqual(new Set([1, 2, 3, 4]));
    expect(closed.filter((one) => one.startsWith('rest'))).toEqual([]);
    expect(closed.filter((one) => one.startsWith('changing'))).toEqual(['changing 1', 'changing 2', 'changing 3']);
  });

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

    const applied = applyTo(fanOut, [subscribe('new', 1)]);
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
    const applied = applyTo(fanOut, [subscribe('new', 1)]);
    await fanOut.pool.stop();
    await applied;

    expect(closed.length).toBeLessThanOrEqual(1);
    expect(await fanOut.queues.of('stuck').getWaitingCount()).toBe(1);
  });
});
