import { describe, expect, it, onTestFinished } from 'vitest';
import { descriptorOf, listsFrom } from '../../src/crm/lists/lists.js';
import { createDispatcher } from '../../src/delivery/dispatcher.js';
import { firstSequenceOf } from '../../src/events/envelope.js';
import { buildNotice } from '../../src/events/notices.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import { createBackfillStore, type BackfillStore } from '../../src/delivery/act/backfills.js';
import { eventually } from '../support/eventually.js';
import { aSubscription, fanOutDeps, seeded } from '../support/fan-out.js';
import { WORKSPACE, appendEvents } from '../support/events.js';
import { useFanOutProcesses } from '../support/fan-out-processes.js';
import { isGate, rowsOfGate } from '../support/night.js';
import { StoredList, recordNames } from '../support/stored-list.js';
import { useRedis } from '../support/redis.js';
import { runFanOut, type FanOutExtras } from '../support/running-fan-out.js';

const test = useRedis();
const { launch, linesOf } = useFanOutProcesses(test);

type Received = Map<string, string[]>;

function listener(changes: Partial<Subscription> = {}): { received: Received; subscription: Subscription } {
  const received: Received = new Map();
  const handle = ({ subject, type, data }: ChangeEvent): void => {
    const verb = type.split('.').at(-1) ?? '';
    received.set(subject, [...(received.get(subject) ?? []), `${verb} ${data.sequence}`]);
  };
  return { received, subscription: aSubscription('s', handle, { start: 'snapshot', ...changes }) };
}

function rightAfter(first: string | undefined, last: number): string[] {
  const from = Number(/^snapshot (\d+)$/.exec(first ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(from)) return Array.from({ length: last }, (_, n) => (n === 0 ? 'created 1' : `updated ${n + 1}`));
  return Array.from({ length: last - from + 1 }, (_, n) => `${n === 0 ? 'snapshot' : 'updated'} ${from + n}`);
}

function wrongRecords(received: Received, sequences: ReadonlyMap<string, number>): object[] {
  return [...sequences].flatMap(([record, last]) => {
    const found = received.get(record) ?? [];
    return JSON.stringify(found) === JSON.stringify(rightAfter(found[0], last)) ? [] : [{ record, last, found }];
  });
}

/**
 * Changes records at random until it is stopped: new ones too, and each several times.
 * @param mayChange waited for before each commit. @defaultValue commits follow each other at once
 */
function live(
  list: StoredList,
  records: readonly string[],
  { seed, mayChange = () => Promise.resolve() }: { seed: number; mayChange?: () => Promise<void> },
): () => Promise<void> {
  const random = seeded(seed);
  let alive = true;
  let born = 0;
  const running = (async () => {
    while (alive) {
      await mayChange();
      const some = new Set(Array.from({ length: 8 }, () => records[Math.floor(random() * records.length)] ?? ''));
      await list.change(...some, `new${(born += 1)}`);
    }
  })();
  return async () => {
    alive = false;
    await running;
  };
}

/** Hundreds of records with earlier changes; the subscription starts while they keep changing, and the test waits for its end. */
async function snapshotDuringChanges(extras: FanOutExtras & { seed: number; dispatchers?: number }) {
  const { seed, dispatchers = 1, ...rest } = extras;
  const records = recordNames(600);
  const list = new StoredList(test);
  await list.baseline(records);
  await list.change(...records.slice(0, 300));
  const end = live(list, records, { seed });
  const { received, subscription } = listener();
  const { settled } = await runFanOut(test, [subscription], { highWater: 200, ...rest });
  for (let more = 1; more < dispatchers; more += 1) await anotherDispatcher(subscription);
  await eventually(() => expect(records.filter((record) => !received.has(record))).toEqual([]));
  await end();
  await settled(120_000);
  return { received, sequences: list.sequences };
}

async function anotherDispatcher(subscription: Subscription): Promise<void> {
  const deps = fanOutDeps(test);
  const dispatcher = createDispatcher({ ...deps, highWater: 200, subscriptions: [subscription] });
  onTestFinished(async () => {
    await dispatcher.close();
    await deps.log.close();
  });
  await dispatcher.start();
}

describe('snapshot', { timeout: 240_000 }, () => {
  it.each(rowsOfGate(1, [Math.floor(Math.random() * 1e6), 1]))(
    'each record is sent as a snapshot and then with every later change, once and in order, while records change (seed %i)',
    async (seed) => {
      const { received, sequences } = await snapshotDuringChanges({ seed });
      expect(wrongRecords(received, sequences)).toEqual([]);
      expect([...received.values()].filter(([first]) => first?.startsWith('snapshot')).length).toBeGreaterThanOrEqual(
        600,
      );
    },
  );

  it.skipIf(isGate)('the same holds with two dispatchers', async () => {
    const { received, sequences } = await snapshotDuringChanges({ seed: 3, dispatchers: 2 });
    expect(wrongRecords(received, sequences)).toEqual([]);
  });

  it('control: without the offsets of the images, changes are sent twice', async () => {
    const backfills: BackfillStore = {
      ...createBackfillStore(test.redis, test.keys),
      imagesReadAt: (_s, _w, records) => Promise.resolve(records.map(() => null)),
    };
    const { received, sequences } = await snapshotDuringChanges({ seed: 1, backfills });
    expect(wrongRecords(received, sequences).length).toBeGreaterThan(0);
  });

  it('a list waits for its first complete sweep, and its changes come after its snapshot', async () => {
    const [people, todo] = [new StoredList(test, 'people'), new StoredList(test, 'todo')];
    await people.baseline(['p1']);
    await todo.baseline(['t1', 't2'], { complete: false });
    const { received, subscription } = listener();
    const { settled, dispatcher } = await runFanOut(test, [subscription]);
    await settled();
    await people.change('p1');
    await todo.change('t1');
    await settled();
    expect(Object.fromEntries(received)).toEqual({ p1: ['snapshot 0', 'updated 1'] });

    await todo.complete();
    await settled();
    await todo.change('t1', 't2');
    await settled();

    expect(received.get('t1')).toEqual(['snapshot 1', 'updated 2']);
    expect(received.get('t2')).toEqual(['snapshot 0', 'updated 1']);
    expect((await dispatcher.statistics())[0]).toMatchObject({ dead: 0, lagEvents: 0 });
  });

  it('`lists` and `where` restrict it, `class` and event types do not, and deleted records are left out', async () => {
    const [people, todo] = [new StoredList(test, 'people'), new StoredList(test, 'todo')];
    await people.baseline(['p1', 'p2', 'p3']);
    await people.remove('p3');
    await todo.baseline(['t1']);
    const where = ({ subject }: ChangeEvent): boolean => subject !== 'p2';
    const { received, subscription } = listener({ on: ['crm.person.updated'], class: 'refreshed', where });
    const { settled } = await runFanOut(test, [subscription]);
    await settled();
    expect(Object.fromEntries(received)).toEqual({ p1: ['snapshot 0'] });
  });

  it('a subscription that was removed, lost its offset and came back gets it again, and then the changes', async () => {
    const records = recordNames(30);
    const list = new StoredList(test);
    await list.baseline(records);
    const first = listener();
    const former = await runFanOut(test, [first.subscription]);
    await eventually(() => expect(first.received.size).toBe(30));
    await former.settled();
    await former.dispatcher.stop();
    await former.pool.stop();
    // As the retention of the log does after seven days. The finished task is still there.
    await test.redis.hdel(test.keys.offsets('s'), WORKSPACE);
    const [changed = ''] = records;
    await list.change(changed);

    const { received, subscription } = listener();
    const { settled } = await runFanOut(test, [subscription]);
    await eventually(() => expect(received.size).toBe(30));
    await list.change(changed);
    await settled();

    expect(wrongRecords(received, list.sequences)).toEqual([]);
  });

  it('a list of which only keys are stored has no snapshot, and its events are sent', async () => {
    const people = new StoredList(test, 'people');
    await people.baseline(['p1']);
    const catalogue = listsFrom([{ ...descriptorOf('people'), recognisedOnly: true }]);
    const { received, subscription } = listener({ lists: ['people'], catalogue });
    const { settled } = await runFanOut(test, [subscription]);
    await settled();
    await people.change('p1');
    await settled();
    expect(Object.fromEntries(received)).toEqual({ p1: ['updated 1'] });
  });
});

describe('snapshot: its dispatcher is killed', { timeout: 240_000 }, () => {
  async function handled(): Promise<Map<string, number[]>> {
    const byRecord = new Map<string, number[]>();
    for (const line of await linesOf('done')) {
      const [record = '', sequence] = line.split(' ');
      byRecord.set(record, [...(byRecord.get(record) ?? []), Number(sequence)]);
    }
    return byRecord;
  }
  const start = 'snapshot';

  it.each(rowsOfGate(1, ['staged-2', 'scanned-2', 'entered-backfill-2', 'unstaging-2']))(
    'no record is left out and none is sent twice (%s)',
    async (freeze) => {
      const records = recordNames(700);
      const list = new StoredList(test);
      await list.baseline(records);
      await list.change(...records.slice(0, 100));
      launch('handle', { start });
      const doomed = launch('dispatch', { start, freeze });
      await doomed.waitForLine(/^frozen/);
      await list.change(...records.slice(50, 650));
      await doomed.kill('SIGKILL');
      launch('dispatch', { start });
      await list.change(...records.slice(600));

      const received = await eventually(
        async () => {
          const now = await handled();
          expect(records.filter((record) => now.get(record)?.at(-1) !== list.sequences.get(record))).toEqual([]);
          return now;
        },
        { intervalMs: 200 },
      );
      const gaps = [...received].filter(([, sequences]) =>
        sequences.some((one, n) => n > 0 && one !== sequences[n - 1]! + 1),
      );
      expect(gaps).toEqual([]);
    },
  );
});

describe('snapshot: after Redis went back', { timeout: 240_000 }, () => {
  const since = '2026-03-02T05:00:00.000Z';
  const rewound = (epoch: number, at = since): ChangeEvent =>
    buildNotice({
      ...{ workspace: WORKSPACE, kind: 'state.rewound', subject: 'workspace', severity: 'error', message: '' },
      ...{ list: null, since: at, at, sequence: firstSequenceOf(epoch) },
    });

  it('no change is skipped, each image comes between the changes that it contains and those that follow, and its end comes last', async () => {
    const records = recordNames(600);
    const list = new StoredList(test);
    await list.baseline(records);
    // Commits are faster than handlers. Without a limit, each step of the scan waits for a log that is several times as long as that of the step before.
    let handled = 0;
    const logged = (): number => [...list.sequences.values()].reduce((sum, one) => sum + one, 0);
    const mayChange = (): Promise<void> => eventually(() => expect(logged() - handled).toBeLessThan(500));
    const end = live(list, records, { seed: 5, mayChange });
    const names = new Map<string, string[]>();
    const marks: [handled: number, sequence: number][] = [];
    const handle = ({ type, subject, data }: ChangeEvent): void => {
      if (type === 'crm.person.updated' || type === 'crm.person.created') handled += 1;
      if (type === 'changefeed.snapshot.complete') marks.push([snapshots(), data.sequence]);
      else
        names.set(subject, [
          ...(names.get(subject) ?? []),
          `${type.split('.')[2] ?? ''} ${String(data.after?.['이름'])}`,
        ]);
    };
    const snapshots = (): number => [...names.values()].flat().filter((one) => one.startsWith('snapshot')).length;
    const on = ['crm.person.updated', 'crm.person.created'];
    const subscription = aSubscription('s', handle, { on, afterRewind: 'snapshot' });
    const { settled } = await runFanOut(test, [subscription], { highWater: 200 });
    await anotherDispatcher(subscription);

    await appendEvents(test, [rewound(7)]);
    await eventually(() => expect([...names.values()].flat().length).toBeGreaterThan(100));
    expect(snapshots()).toBe(0);
    await list.complete(7);
    await eventually(() => expect(marks).toHaveLength(1));
    await end();
    await settled(120_000);

    expect(marks).toEqual([[expect.any(Number), firstSequenceOf(7) - 1]]);
    expect(marks[0]?.[0]).toBe(snapshots());
    expect(snapshots()).toBeGreaterThanOrEqual(600);
    const numbers = (story: readonly string[]): number[] => story.map((one) => Number(one.split(' ').at(-1)));
    const wrong = [...names].filter(([record, story]) => {
      const changes = story.filter((one) => !one.startsWith('snapshot'));
      const isWhole = changes.length === list.sequences.get(record);
      return !isWhole || numbers(story).some((number, at, all) => at > 0 && number < (all[at - 1] ?? 0));
    });
    expect(wrong).toEqual([]);
  });

  it('nothing is sent without the option, and once per epoch with it', async () => {
    const list = new StoredList(test);
    await list.baseline(['p1']);
    await list.complete(7);
    const [with_, without] = [
      listener({ start: 'now', afterRewind: 'snapshot' }),
      listener({ start: 'now', name: 'other' }),
    ];
    const { settled } = await runFanOut(test, [with_.subscription, without.subscription]);
    await appendEvents(test, [rewound(7)]);
    await eventually(() => expect(with_.received.get('p1')).toEqual([`snapshot ${firstSequenceOf(7) - 1}`]));
    await list.complete(9);
    await appendEvents(test, [rewound(9, '2026-03-02T06:00:00.000Z')]);
    await eventually(() => expect(with_.received.get('p1')).toHaveLength(2));
    await settled();
    expect(with_.received.get('p1')?.[1]).toBe(`snapshot ${firstSequenceOf(9) - 1}`);
    expect(without.received.size).toBe(0);
  });
});

describe('snapshot: a scan of images', () => {
  it('returns every record, and starts again when the server was restarted and its cursors are lost', async () => {
    const records = recordNames(900);
    await new StoredList(test).baseline(records);
    const { source } = fanOutDeps(test);
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
