import { describe, expect, it } from 'vitest';
import { compileRules } from '../../src/feed/detect/rules.js';
import { replay } from '../../src/delivery/act/replay.js';
import type { ChangeEvent, FieldChange } from '../../src/events/types.js';
import { systemClock } from '../../src/kit/clock.js';
import { eventually } from '../support/eventually.js';
import { NO_SURROUNDINGS, fanOutDeps } from '../support/fan-out.js';
import { WORKSPACE, changeEvent } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { NOT_TODAY, changes, idOf, put, queue, debouncing, start, stateOf } from '../support/debouncing.js';

/** Half a second: BullMQ delays by the clock of the process, and the wait is one of Redis. */
const WITHIN_A_MOMENT = -3;
const test = useRedis();

function changed(sequence: number, ...fields: FieldChange[]): ChangeEvent {
  const event = changeEvent({ record: 'r1', sequence, changed: [] });
  const image = (side: 'before' | 'after') => ({
    id: 'r1',
    ...Object.fromEntries(fields.map((one) => [one.field, one[side]])),
  });
  return { ...event, data: { ...event.data, before: image('before'), after: image('after'), changes: fields } };
}

describe('debounce: changes of a record', () => {
  it('are handled as one event, and no state of them is left', async () => {
    const seen: ChangeEvent[] = [];
    const events = changes(1, 2, 3);
    const running = await start(
      test,
      debouncing((event) => void seen.push(event)),
    );

    await put(running, events);

    expect(await running.settled()).toEqual({ outcome: 'handled' });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      id: idOf(events),
      type: 'crm.person.updated',
      subject: 'r1',
      data: {
        sequence: 3,
        changes: [
          { field: '담당자', before: 0, after: 3 },
          { field: '이름', before: '가상인 1', after: '가상인 3' },
        ],
        merged: { ids: events.map(({ id }) => id), firstSequence: 1 },
      },
    });
    await eventually(async () =>
      expect((await running.dispatcher.statistics())[0]).toMatchObject({
        waiting: 0,
        active: 0,
        delayed: 0,
        lagEvents: 0,
      }),
    );
    expect(await stateOf(test)).toEqual([test.keys.entered('s', WORKSPACE)]);
  });

  it('wait until their record is quiet, each later change restarts the wait, and other records do not wait', async () => {
    const seen: string[] = [];
    const running = await start(
      test,
      debouncing(({ subject }) => void seen.push(subject), { settle: NOT_TODAY }),
    );
    // BullMQ stores the time in the upper bits of the score.
    const waitsUntil = async (): Promise<number> => {
      const [, score] = await test.redis.zrange(running.queues.of('s').toKey('delayed'), '0', '0', 'WITHSCORES');
      return Number(score) / 4_096;
    };
    const enteredAt = async ({ id }: ChangeEvent): Promise<number> => {
      const [key = ''] = await test.redis.keys(test.keys.group('s', '*r1'));
      const entries = await test.redis.lrange(key, 0, -1);
      return Number(entries.find((entry) => entry.startsWith(id))?.split('\x1f')[2]);
    };
    await put(running, [...changes(1), changeEvent({ record: 'r2', sequence: 1, verb: 'deleted' })]);
    await eventually(() => expect(seen).toEqual(['r2']));
    const [one, two] = changes(1, 2);
    await eventually(async () =>
      expect((await waitsUntil()) - (await enteredAt(one!))).toBeCloseTo(NOT_TODAY.stillMs, WITHIN_A_MOMENT),
    );

    await queue(running, changes(2));
    await (await running.queues.of('s').getDelayed())[0]!.promote();
    await running.queues.of('s').resume();

    await eventually(async () =>
      expect((await waitsUntil()) - (await enteredAt(two!))).toBeCloseTo(NOT_TODAY.stillMs, WITHIN_A_MOMENT),
    );
    expect(seen).toEqual(['r2']);
    expect((await running.dispatcher.statistics())[0]).toMatchObject({ lagEvents: 2, delayed: 1 });
  });

  it('wait no longer than `atMost` while the record keeps changing', async () => {
    const seen: number[] = [];
    const settle = { ...NOT_TODAY, atMostMs: 1 };
    const running = await start(
      test,
      debouncing(({ data }) => void seen.push(data.sequence), { settle }),
    );

    await put(running, changes(1, 2));

    await running.settled();
    expect(seen).toEqual([2]);
  });

  it('between null and absent are sent when the list has nullIsAbsent off', async () => {
    const seen: unknown[] = [];
    const extras = {
      surroundingsOf: () => ({
        ...NO_SURROUNDINGS,
        comparisonOf: () => compileRules('people', { nullIsAbsent: false }),
      }),
    };
    const running = await start(
      test,
      debouncing(({ data }) => void seen.push(data.changes)),
      extras,
    );

    await put(running, [
      changed(1, { field: '등급', before: null, after: 'A' }),
      changed(2, { field: '등급', before: 'A', after: [] }),
    ]);

    await running.settled();
    expect(seen).toEqual([[{ field: '등급', before: null, after: [] }]]);
  });

  it('are selected by their merged event', async () => {
    const seen: number[] = [];
    const running = await start(
      test,
      debouncing(({ data }) => void seen.push(data.sequence), { fields: ['담당자'] }),
    );

    await put(running, [
      changed(1, { field: '담당자', before: 1, after: 2 }),
      changed(2, { field: '담당자', before: 2, after: 1 }, { field: '이름', before: 'a', after: 'b' }),
    ]);

    await running.settled();
    expect(seen).toEqual([]);
  });
});

describe('debounce and other features', () => {
  it('`once` identifies a merge by its id over its attempts', async () => {
    const effects: string[] = [];
    const outcomes: string[] = [];
    const running = await start(
      test,
      debouncing(async ({ id }, { once, attempt }) => {
        outcomes.push(await once('mail', () => effects.push(id)));
        if (attempt === 1) throw new Error('after the effect');
      }),
    );
    await put(running, changes(1, 2));
    await eventually(() => expect(outcomes).toEqual(['ran', 'before']));
    expect(effects).toEqual([idOf(changes(1, 2))]);
  });

  it('`where` and `transform` get the merged event', async () => {
    const seen: unknown[] = [];
    const running = await start(
      test,
      debouncing((event) => void seen.push(event.subject, event.id), {
        where: ({ data }) => data.sequence < 3 || data.merged !== undefined,
        transform: (event) => ({ ...event, subject: `${event.data.merged?.ids.length} changes`, id: 'another' }),
      }),
    );
    await put(running, changes(1, 2));
    await running.settled();
    expect(seen).toEqual(['2 changes', idOf(changes(1, 2))]);
  });

  it('a replay is merged separately and marked as a replay', async () => {
    const seen: unknown[] = [];
    const running = await start(
      test,
      debouncing(({ id }, { replay }) => void seen.push([id, replay])),
    );
    await put(running, changes(1, 2, 3));
    await running.settled();
    await running.queues.of('s').pause();
    const deps = fanOutDeps(test);
    const subscription = debouncing(() => undefined);
    await replay(
      { subscription: 's', from: 'beginning' },
      { ...deps, clock: systemClock, queue: running.queues.of('s'), subscription },
    );
    await put(running, changes(4));

    await eventually(() => expect(seen).toHaveLength(3));
    const merged = idOf(changes(1, 2, 3));
    expect(seen).toEqual([
      [merged, false],
      [merged, true],
      [changes(4)[0]!.id, false],
    ]);
  });
});
