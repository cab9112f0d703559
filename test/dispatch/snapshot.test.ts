import { describe, expect, it, onTestFinished } from 'vitest';
import { createDispatcher } from '../../src/dispatch/dispatcher.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Subscription } from '../../src/handlers/handler.js';
import { systemClock } from '../../src/runtime/clock.js';
import { compileRules } from '../../src/detect/rules.js';
import { RedisFeedStore } from '../../src/state/feeds.js';
import { createSnapshotSource } from '../../src/state/snapshot-source.js';
import { eventually } from '../support/eventually.js';
import { WORKSPACE, aSubscription, fanOutDeps, seeded, wrapFeeds } from '../support/fan-out.js';
import { useProcesses } from '../support/process.js';
import { RememberedList, recordNames } from '../support/remembered.js';
import { useRedis } from '../support/redis.js';
import { runFanOut, type FanOutExtras } from '../support/running-fan-out.js';

const test = useRedis();
const start = useProcesses();
const child = new URL('../support/fan-out-child.ts', import.meta.url);

type Told = Map<string, string[]>;

/** Keeps what was told of each record, in the order of telling: `snapshot 3`, `updated 4` … */
function listener(changes: Partial<Subscription> = {}): { told: Told; subscription: Subscription } {
  const told: Told = new Map();
  const hear = ({ subject, type, data }: ChangeEvent): void => {
    const verb = type.split('.').at(-1) ?? '';
    told.set(subject, [...(told.get(subject) ?? []), `${verb} ${data.sequence}`]);
  };
  return { told, subscription: aSubscription('s', hear, { start: 'snapshot', ...changes }) };
}

/** What is right for a record: what it is at some sequence, then every change after it, once and in order. */
function rightAfter(first: string | undefined, last: number): string[] {
  const from = Number(/^snapshot (\d+)$/.exec(first ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(from)) return Array.from({ length: last }, (_, n) => (n === 0 ? 'created 1' : `updated ${n + 1}`));
  return Array.from({ length: last - from + 1 }, (_, n) => `${n === 0 ? 'snapshot' : 'updated'} ${from + n}`);
}

function wrongRecords(told: Told, sequences: ReadonlyMap<string, number>): object[] {
  return [...sequences].flatMap(([record, last]) => {
    const heard = told.get(record) ?? [];
    return JSON.stringify(heard) === JSON.stringify(rightAfter(heard[0], last)) ? [] : [{ record, last, heard }];
  });
}

/** Changes records at random, until told to end: new ones too, and each several times. */
function live(list: RememberedList, records: readonly string[], seed: number): () => Promise<void> {
  const random = seeded(seed);
  let alive = true;
  let born = 0;
  const running = (async () => {
    while (alive) {
      const some = new Set(Array.from({ length: 8 }, () => records[Math.floor(random() * records.length)] ?? ''));
      await list.change(...some, `new${(born += 1)}`);
    }
  })();
  return async () => {
    alive = false;
    await running;
  };
}

/** Hundreds of records with a past, a subscription that begins while they go on changing, to the end of it. */
async function snapshotWhileTheWorldChanges(extras: FanOutExtras & { seed: number; dispatchers?: number }) {
  const { seed, dispatchers = 1, ...rest } = extras;
  const records = recordNames(600);
  const list = new RememberedList(test);
  await list.baseline(records);
  await list.change(...records.slice(0, 300));
  const end = live(list, records, seed);
  const { told, subscription } = listener();
  const { settled } = await runFanOut(test, [subscription], { highWater: 200, ...rest });
  for (let more = 1; more < dispatchers; more += 1) await anotherDispatcher(subscription);
  await eventually(() => expect(records.filter((record) => !told.has(record))).toEqual([]), { timeoutMs: 60_000 });
  await end();
  await settled(60_000);
  return { told, sequences: list.sequences };
}

async function anotherDispatcher(subscription: Subscription): Promise<void> {
  const connect = () => test.connect({ maxRetriesPerRequest: null });
  const deps = fanOutDeps({ redis: test.redis, keys: test.keys, connect });
  const dispatcher = createDispatcher({ ...deps, highWater: 200, subscriptions: [subscription] });
  onTestFinished(async () => {
    await dispatcher.stop();
    await deps.log.close();
  });
  await dispatcher.start();
}

describe('a subscription that begins with a snapshot', { timeout: 120_000 }, () => {
  it.each([1, Math.floor(Math.random() * 1e6)])(
    'hears what every record is, then every change after it, once and in order, while the world changes (seed %i)',
    async (seed) => {
      const { told, sequences } = await snapshotWhileTheWorldChanges({ seed });
      expect(wrongRecords(told, sequences)).toEqual([]);
      expect([...told.values()].filter(([first]) => first?.startsWith('snapshot')).length).toBeGreaterThanOrEqual(600);
    },
  );

  it('does so with two dispatchers at work', async () => {
    const { told, sequences } = await snapshotWhileTheWorldChanges({ seed: 3, dispatchers: 2 });
    expect(wrongRecords(told, sequences)).toEqual([]);
  });

  it('would hear changes twice if it were not known what the images had shown: the control', async () => {
    const feeds = new RedisFeedStore(test.redis, test.keys);
    const forgetful = wrapFeeds(feeds, { seen: (_s, _w, records) => Promise.resolve(records.map(() => null)) });
    const { told, sequences } = await snapshotWhileTheWorldChanges({ seed: 1, feeds: forgetful });
    expect(wrongRecords(told, sequences).length).toBeGreaterThan(0);
  });

  it('hears no change of a list before what the list is, which waits for its first complete sweep', async () => {
    const [people, todo] = [new RememberedList(test, 'people'), new RememberedList(test, 'todo')];
    await people.baseline(['p1']);
    await todo.baseline(['t1', 't2'], { complete: false });
    const { told, subscription } = listener();
    const { settled, dispatcher } = await runFanOut(test, [subscription]);
    await settled();
    await people.change('p1');
    await todo.change('t1');
    await settled();
    expect(Object.fromEntries(told)).toEqual({ p1: ['snapshot 0', 'updated 1'] });

    await todo.complete();
    await settled();
    await todo.change('t1', 't2');
    await settled();

    expect(told.get('t1')).toEqual(['snapshot 1', 'updated 2']);
    expect(told.get('t2')).toEqual(['snapshot 0', 'updated 1']);
    expect((await dispatcher.statistics())[0]).toMatchObject({ dead: 0, lagEvents: 0 });
  });

  it('hears of what it selects: by list and where, whatever types and classes of change it asks for; the gone are left out', async () => {
    const [people, todo] = [new RememberedList(test, 'people'), new RememberedList(test, 'todo')];
    await people.baseline(['p1', 'p2', 'p3']);
    await people.remove('p3');
    await todo.baseline(['t1']);
    const where = ({ subject }: ChangeEvent): boolean => subject !== 'p2';
    const { told, subscription } = listener({ on: ['crm.person.updated'], class: 'refreshed', where });
    const { settled } = await runFanOut(test, [subscription]);
    await settled();
    expect(Object.fromEntries(told)).toEqual({ p1: ['snapshot 0'] });
  });

  it('is told which lists keep no images, and hears their changes', async () => {
    const people = new RememberedList(test, 'people');
    await people.baseline(['p1']);
    const warnings: object[] = [];
    const { told, subscription } = listener({ lists: ['people'] });
    const connect = () => test.connect({ maxRetriesPerRequest: null });
    const { logger } = fanOutDeps({ redis: test.redis, keys: test.keys, connect });
    const source = createSnapshotSource({
      ...{ redis: test.redis, keys: test.keys, clock: systemClock },
      list: (_workspace, list) => ({ enabled: true, images: false, rules: compileRules(list) }),
    });
    const warn = (...said: unknown[]): void => void warnings.push(said[0] as object);
    const { settled } = await runFanOut(test, [subscription], { source, logger: { ...logger, warn } });
    await settled();
    await people.change('p1');
    await settled();
    expect(Object.fromEntries(told)).toEqual({ p1: ['updated 1'] });
    expect(warnings).toEqual([{ subscription: 's', workspace: WORKSPACE, list: 'people' }]);
  });
});

describe('a dispatcher that is killed in the midst of a snapshot', { timeout: 120_000 }, () => {
  /** What was handled, in order, as lines of the child: `subject sequence`. */
  async function handled(): Promise<Map<string, number[]>> {
    const byRecord = new Map<string, number[]>();
    for (const line of await test.redis.lrange(`${test.keys.prefix}:done`, 0, -1)) {
      const [record = '', sequence] = line.split(' ');
      byRecord.set(record, [...(byRecord.get(record) ?? []), Number(sequence)]);
    }
    return byRecord;
  }
  const launch = (role: 'dispatch' | 'handle', freeze?: string) =>
    start(child, {
      env: {
        ...{ FAN_OUT_URL: test.url, FAN_OUT_PREFIX: test.keys.prefix, FAN_OUT_ROLE: role },
        ...{ FAN_OUT_START: 'snapshot', FAN_OUT_FREEZE: freeze },
      },
    });

  it.each(['scanned-2', 'staged-2', 'entered-beside-2', 'unstaging-2'])(
    'leaves nothing out and nothing twice (%s)',
    async (freeze) => {
      const records = recordNames(700);
      const list = new RememberedList(test);
      await list.baseline(records);
      await list.change(...records.slice(0, 100));
      launch('handle');
      const doomed = launch('dispatch', freeze);
      await doomed.waitForLine(/^frozen/);
      await list.change(...records.slice(50, 650));
      await doomed.kill('SIGKILL');
      launch('dispatch');
      await list.change(...records.slice(600));

      const told = await eventually(
        async () => {
          const now = await handled();
          expect(records.filter((record) => now.get(record)?.at(-1) !== list.sequences.get(record))).toEqual([]);
          return now;
        },
        { timeoutMs: 60_000, intervalMs: 200 },
      );
      const gaps = [...told].filter(([, sequences]) =>
        sequences.some((one, n) => n > 0 && one !== sequences[n - 1]! + 1),
      );
      expect(gaps).toEqual([]);
    },
  );
});

describe('a scan of images', () => {
  it('shows every record once, and begins anew when the server is another: its cursors are gone', async () => {
    const records = recordNames(900);
    await new RememberedList(test).baseline(records);
    const connect = () => test.connect({ maxRetriesPerRequest: null });
    const { source } = fanOutDeps({ redis: test.redis, keys: test.keys, connect });
    const first = await source.scan(WORKSPACE, 'people', null);
    const anew = await source.scan(WORKSPACE, 'people', { cursor: first.next!.cursor, server: 'another' });
    expect(anew.records.map(({ key }) => key)).toEqual(first.records.map(({ key }) => key));

    const found = first.records.map(({ key }) => key);
    let steps = 1;
    for (let at = first.next; at !== null; steps += 1) {
      const scan = await source.scan(WORKSPACE, 'people', at);
      found.push(...scan.records.map(({ key }) => key));
      at = scan.next;
    }
    expect(found.toSorted()).toEqual(records);
    expect(steps).toBeGreaterThan(2);
  });
});
