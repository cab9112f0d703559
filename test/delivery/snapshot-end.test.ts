/** When a list of a snapshot is complete, and what stands in the way. */
import { describe, expect, it } from 'vitest';
import { createBackfillStore, type BackfillStore } from '../../src/delivery/act/backfills.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import { firstSequenceOf } from '../../src/events/envelope.js';
import { buildNotice } from '../../src/events/notices.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Held } from '../../src/feed/detect/held.js';
import { eventually } from '../support/eventually.js';
import { WORKSPACE, appendEvents } from '../support/events.js';
import { aSubscription } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut, type FanOutExtras } from '../support/running-fan-out.js';
import { StoredList, recordNames } from '../support/stored-list.js';

const test = useRedis();

describe('snapshot: the end of a list', { timeout: 60_000 }, () => {
  const at = (hour: number): string => `2026-03-02T0${hour}:00:00.000Z`;
  const sequence = firstSequenceOf(7) - 1;
  const nothing = {
    workspace: WORKSPACE,
    list: 'people',
    held: 0,
    unreadable: 0,
    dead: 0,
    dropped: 0,
  };
  const receipts = { ageMs: 86_400_000, number: 1_000 };

  /** A subscription that is sent people, swept since Redis went back. `refused`: records whose events are refused for good. */
  async function sent(
    records: readonly string[],
    found?: Parameters<StoredList['complete']>[1],
    { order = 'record', where, ...extras }: FanOutExtras & Partial<Pick<Subscription, 'order' | 'where'>> = {},
  ) {
    const list = new StoredList(test);
    await list.baseline(records);
    await list.complete(7, found);
    const refused = new Set<string>();
    const got: string[] = [];
    const handle = ({ subject, type, data }: ChangeEvent): void => {
      if (refused.has(subject)) throw new PermanentError('refused');
      got.push(`${subject} ${type.split('.').slice(2).join('.')} ${data.sequence}`);
    };
    const subscription = aSubscription('s', handle, {
      start: 'now',
      lists: ['people'],
      afterRewind: 'snapshot',
      order,
      ...(where && { where }),
      receipts,
    });
    const running = await runFanOut(test, [subscription], extras);
    const begin = (epoch = 7): Promise<void> => appendEvents(test, [rewound(epoch)]).then(() => undefined);
    const incomplete = async () => (await running.dispatcher.statistics())[0]?.incomplete;
    return { ...running, list, got, refused, begin, incomplete };
  }
  const snapshotsOf = (...records: string[]): string[] => records.map((record) => `${record} snapshot ${sequence}`);
  const rewound = (epoch: number): ChangeEvent =>
    buildNotice({
      ...{ workspace: WORKSPACE, kind: 'state.rewound', subject: 'workspace', severity: 'error', message: '' },
      ...{ list: null, since: at(epoch - 2), at: at(5), sequence: firstSequenceOf(epoch) },
    });
  const end = `list:people complete ${sequence}`;

  const held: Held = { what: 'creations', why: 'too many', count: 400, of: 402, since: at(6), at: at(6) };

  it('snapshot: where records are held it has none, until they are discarded and sent', async () => {
    const { list, got, begin, incomplete, settled } = await sent(['p1', 'p2'], { held: [held] });
    await begin();
    await eventually(async () => expect(await incomplete()).toEqual([{ ...nothing, held: 400, records: [] }]));
    // It is not waited for: only a person can decide it.
    expect(await settled()).toEqual({ outcome: 'handled' });
    expect(got.toSorted()).toEqual(snapshotsOf('p1', 'p2'));

    await list.discardHeld();
    await list.baseline(['p3'], { complete: false });
    await list.complete(7);
    await eventually(() => expect(got.slice(2)).toEqual([...snapshotsOf('p3'), end]));
    await settled();
    expect([await incomplete(), await test.redis.exists(test.keys.undelivered('s', WORKSPACE))]).toEqual([[], 0]);
    await eventually(async () => expect(await createBackfillStore(test.redis, test.keys).tasks('s')).toEqual([]));
  });

  it('snapshot: what is held and discarded while it is read is sent before its end', async () => {
    const { list, got, refused, begin, dead } = await sent(['p1', 'p2']);
    refused.add('p2');
    await begin();
    await eventuallyDead(dead, 1);
    await list.complete(7, { held: [held] });
    await list.discardHeld();
    await list.baseline(['p3'], { complete: false });
    await list.complete(7);
    refused.clear();
    await dead.retry();
    await eventually(() => expect(got.at(-1)).toBe(end));
    expect(got.toSorted()).toEqual([end, ...snapshotsOf('p1', 'p2', 'p3')]);
  });

  it('snapshot: where a record cannot be read it has none, until it can', async () => {
    const unreadable = [{ page: 1, id: 'p9', reason: 'no id' }];
    const { list, got, begin, incomplete } = await sent(['p1'], { unreadable });
    await begin();
    await eventually(async () => expect(await incomplete()).toEqual([{ ...nothing, unreadable: 1, records: ['p9'] }]));
    expect(got).toEqual(snapshotsOf('p1'));
    await list.complete(7);
    await eventually(() => expect(got).toEqual([...snapshotsOf('p1'), end]));
  });

  it('snapshot: where an event of it is dead it has none, until that is retried and delivered', async () => {
    const { got, refused, begin, incomplete, dead, settled } = await sent(['p1', 'p2']);
    refused.add('p2');
    await begin();
    await eventuallyDead(dead, 1);
    await dead.retry();
    await eventuallyDead(dead, 1);
    await eventually(async () => expect(await incomplete()).toEqual([{ ...nothing, dead: 1, records: ['p2'] }]));
    expect(await settled()).toEqual({ outcome: 'handled' });
    expect(got).toEqual(snapshotsOf('p1'));
    refused.clear();
    await dead.retry();
    await eventually(() => expect(got).toEqual([...snapshotsOf('p1', 'p2'), end]));
  });

  it.each(['record', 'none'] as const)(
    'snapshot: with order %s, what was dropped is said, and the next one sends it',
    async (order) => {
      const { list, got, refused, begin, incomplete, dead } = await sent(['p1', 'p2'], undefined, { order });
      refused.add('p2');
      await begin();
      await eventuallyDead(dead, 1);
      await dead.drop();
      await eventually(async () => expect(await incomplete()).toEqual([{ ...nothing, dropped: 1, records: ['p2'] }]));
      expect(got).toEqual(snapshotsOf('p1'));
      refused.clear();
      await begin(8);
      await list.complete(8);
      const later = firstSequenceOf(8) - 1;
      await eventually(() => expect(got.at(-1)).toBe(`list:people complete ${later}`));
      expect(got.slice(1, -1).toSorted()).toEqual([`p1 snapshot ${later}`, `p2 snapshot ${later}`]);
    },
  );

  it('snapshot: what `skip` drops is said', async () => {
    const { got, begin, incomplete, dispatcher } = await sent(['p1', 'p2']);
    await dispatcher.pause('s', 'to drop what waits');
    await begin();
    await eventually(async () => expect(await dispatcher.skip('s', {})).toMatchObject({ queued: 2 }));
    await dispatcher.resume('s');
    await eventually(async () => expect(await incomplete()).toMatchObject([{ ...nothing, dropped: 2 }]));
    expect(got).toEqual([]);
  });

  it('snapshot: records that were deleted since the epoch began are sent as deleted, with the sequence at which they were, whatever `where` selects', async () => {
    const where = ({ data, subject }: ChangeEvent): boolean => data.after !== null && subject !== 'p4';
    const { list, got, begin } = await sent(['p1', 'p2', 'p3', 'p4'], undefined, { where });
    await list.remove('p2');
    list.sequences.set('p3', sequence + 4);
    await list.remove('p3');
    await begin();
    await eventually(() => expect(got.at(-1)).toBe(end));
    expect(got.toSorted()).toEqual([end, ...snapshotsOf('p1'), `p3 deleted ${sequence + 5}`]);
  });

  it('snapshot: no record is left out when another one is erased between two steps', async () => {
    const records = recordNames(600);
    const store = createBackfillStore(test.redis, test.keys);
    let erased = '';
    const backfills: BackfillStore = {
      ...store,
      async step(subscription, stored, to) {
        const staged = await store.staged('s', WORKSPACE);
        if (erased !== '' || to.staged !== 'sent' || staged.length === 0)
          return await store.step(subscription, stored, to);
        // As the erasure of a record does, while the process that has entered the events is killed.
        erased = staged[1]?.event.subject ?? '';
        const [, text = ''] = await test.redis.lrange(test.keys.staged('s', WORKSPACE), 0, 1);
        await test.redis.lrem(test.keys.staged('s', WORKSPACE), 0, text);
        return false;
      },
    };
    const { got, begin } = await sent(records, undefined, { backfills });
    await begin();
    await eventually(() => expect(got.at(-1)).toBe(end));
    expect(erased).not.toBe('');
    expect(got.slice(0, -1).toSorted()).toEqual(snapshotsOf(...records));
  });
});
