import { describe, expect, it } from 'vitest';
import { mergeChanges } from '../../src/delivery/run/merge-changes.js';
import { buildEvent, mergedEventId } from '../../src/events/envelope.js';
import type { EventType, Verb } from '../../src/events/kinds.js';
import type { ChangeData, ChangeEvent } from '../../src/events/types.js';

type Fields = Record<string, unknown>;

function change(
  verb: Verb,
  sequence: number,
  data: Partial<ChangeData> & { from?: Fields; to?: Fields } = {},
): ChangeEvent {
  const { from, to, ...rest } = data;
  const observedAt = `2026-03-02T04:10:0${sequence}.000Z`;
  const changes =
    verb === 'updated'
      ? Object.keys(to ?? {}).map((field) => ({ field, before: from?.[field] ?? null, after: to?.[field] ?? null }))
      : [];
  return buildEvent({
    workspace: 'acme',
    list: 'people',
    verb,
    recordId: 'r1',
    time: observedAt,
    contentDigest: String(sequence),
    data: {
      before: from === undefined ? null : { id: 'r1', ...from },
      after: to === undefined ? null : { id: 'r1', ...to },
      changes,
      sequence,
      class: 'edited',
      detectedBy: 'both',
      observedAt,
      sweep: `sweep-${sequence}`,
      ...rest,
    },
  });
}

it('merge: folds by sequence, whatever the order in which the log has the events', () => {
  const step = (sequence: number): ChangeEvent =>
    change('updated', sequence, { from: { 딜: sequence }, to: { 딜: sequence + 1 } });
  const inOrder = mergeChanges([step(7), step(8), step(9)]);
  expect(mergeChanges([step(8), step(9), step(7)])).toEqual(inOrder);
  // In the order of the log this would be a change and its end: no event.
  expect(mergeChanges([step(8), step(7)]).event?.data).toMatchObject({ before: { 딜: 7 }, after: { 딜: 9 } });
  expect(inOrder.event?.data).toMatchObject({ sequence: 9, before: { 딜: 7 }, after: { 딜: 10 } });
});

describe('merge: who made the changes', () => {
  const [A, B] = [
    { type: 'user', id: 'u-1', name: '담당A' },
    { type: 'api', id: 'k-1', name: '연동' },
  ];
  const edit = (sequence: number, actor?: typeof A): ChangeEvent =>
    change('updated', sequence, {
      from: { 딜: sequence },
      to: { 딜: sequence + 1 },
      ...(actor !== undefined && { actor }),
    });

  it.each([
    ['the same actor', [edit(1, A), edit(2, { ...A, name: '새 이름' })], { ...A, name: '새 이름' }],
    ['two actors', [edit(1, A), edit(2, B)], undefined],
    ['one that is not known', [edit(1), edit(2, B)], undefined],
    ['one that is not known at the end', [edit(1, A), edit(2)], undefined],
  ])('changes by %s', (_what, [one, two], expected) => {
    const { event } = mergeChanges([one!, two!]);
    expect(event?.data.actor).toEqual(expected);
    expect(event?.data.changes).toEqual([{ field: '딜', before: 1, after: 3 }]);
  });

  it('a field of a merged change does not name the actor of its last part', () => {
    const step = (sequence: number): ChangeEvent => {
      const event = edit(sequence);
      return { ...event, data: { ...event.data, changes: event.data.changes.map((one) => ({ ...one, actor: B })) } };
    };
    expect(mergeChanges([step(1), step(2)]).event?.data.changes).toEqual([{ field: '딜', before: 1, after: 3 }]);
  });
});

describe('merge: changes of one record', () => {
  it('two updates become one, from the first image to the last, with the ids of both', () => {
    const one = change('updated', 4, {
      from: { 이름: 'a', 딜: 1 },
      to: { 이름: 'b', 딜: 1 },
      changes: [{ field: '이름', before: 'a', after: 'b' }],
      class: 'refreshed',
    });
    const two = change('updated', 5, { from: { 이름: 'b', 딜: 1 }, to: { 이름: 'c', 딜: 2 }, detectedBy: 'content' });
    expect(mergeChanges([one, two])).toEqual({
      taken: 2,
      event: {
        ...two,
        id: mergedEventId([one.id, two.id]),
        data: {
          before: { id: 'r1', 이름: 'a', 딜: 1 },
          after: { id: 'r1', 이름: 'c', 딜: 2 },
          changes: [
            { field: '딜', before: 1, after: 2 },
            { field: '이름', before: 'a', after: 'c' },
          ],
          sequence: 5,
          class: 'edited',
          detectedBy: 'both',
          observedAt: two.data.observedAt,
          sweep: 'sweep-5',
          merged: { ids: [one.id, two.id], firstSequence: 4, firstObservedAt: one.data.observedAt },
        },
      },
    });
  });

  it('what its parts share stays: the class, and how they were found; of another workspace nothing is merged', () => {
    const same = { class: 'refreshed', detectedBy: 'content' } as const;
    const one = change('updated', 1, { from: { 딜: 1 }, to: { 딜: 2 }, ...same });
    const two = change('updated', 2, { from: { 딜: 2 }, to: { 딜: 3 }, ...same });
    expect(mergeChanges([one, two]).event?.data).toMatchObject(same);
    expect(mergeChanges([one, { ...two, source: '/workspaces/other' }]).taken).toBe(1);
  });

  it('a single event stays unchanged', () => {
    const one = change('updated', 1, { from: { 이름: 'a' }, to: { 이름: 'b' } });
    expect(mergeChanges([one])).toEqual({ taken: 1, event: one });
  });

  it('a change of which the first part has no `before`, as in a baseline since a time, names no fields', () => {
    const first = change('updated', 1, { to: { 이름: 'a' }, changes: [] });
    const { event } = mergeChanges([first, change('updated', 2, { from: { 이름: 'a' }, to: { 이름: 'b' } })]);
    expect(event?.data).toMatchObject({ before: null, after: { 이름: 'b' }, changes: [] });
  });

  it('of a list that is not built in, the usual times are left out', () => {
    const deal = (sequence: number, fields: Fields): ChangeEvent => ({
      ...change('updated', sequence, { from: { 금액: sequence }, to: { 금액: sequence + 1, ...fields } }),
      type: 'crm.deal.updated',
    });
    const { event } = mergeChanges([deal(1, {}), deal(2, { updatedAt: '2026-03-02T04:10:00.000Z' })]);
    expect(event?.data.changes).toEqual([{ field: '금액', before: 1, after: 3 }]);
  });

  it('changes that cancel out are no event', () => {
    const [there, back] = [
      change('updated', 1, { from: { 딜: 1 }, to: { 딜: 2 } }),
      change('updated', 2, { from: { 딜: 2 }, to: { 딜: 1 } }),
    ];
    expect(mergeChanges([there, back])).toEqual({ taken: 2, event: null });
  });

  it.each<[Verb, Verb, EventType, unknown]>([
    ['created', 'updated', 'crm.person.created', null],
    ['snapshot', 'updated', 'crm.person.snapshot', null],
    ['updated', 'deleted', 'crm.person.deleted', { id: 'r1', 이름: 'a' }],
    ['created', 'deleted', 'crm.person.deleted', { id: 'r1', 이름: 'b' }],
  ])('%s and %s become %s', (first, second, type, before) => {
    const opening = change(first, 1, { to: { 이름: 'b' }, ...(first === 'updated' && { from: { 이름: 'a' } }) });
    const closing = change(second, 2, { from: { 이름: 'b' }, ...(second === 'updated' && { to: { 이름: 'c' } }) });
    const { event, taken } = mergeChanges([opening, closing]);
    expect({
      taken,
      type: event?.type,
      before: event?.data.before,
      after: event?.data.after,
      changes: event?.data.changes,
    }).toEqual({
      taken: 2,
      type,
      before,
      after: second === 'updated' ? { id: 'r1', 이름: 'c' } : null,
      changes: [],
    });
  });

  it('a merge ends with a deletion, and before an event that is no change of the record', () => {
    const updated = change('updated', 1, { from: { 이름: 'a' }, to: { 이름: 'b' } });
    const deleted = change('deleted', 2, { from: { 이름: 'b' } });
    const back = change('created', 3, { to: { 이름: 'b' }, reappeared: true });
    const derived = { ...change('updated', 4), type: 'crm.todo.completed' as EventType };
    const schema = change('schema_changed', 5);
    expect(mergeChanges([updated, deleted, back]).taken).toBe(2);
    expect(mergeChanges([deleted, back]).taken).toBe(1);
    expect(mergeChanges([updated, derived, updated]).taken).toBe(1);
    expect(mergeChanges([derived, updated]).taken).toBe(1);
    expect(mergeChanges([schema, updated]).taken).toBe(1);
    expect(mergeChanges([updated, { ...updated, subject: 'r2' }]).taken).toBe(1);
  });

  it('data that only one of the events has is kept: mergedInto and reappeared', () => {
    const back = change('created', 1, { to: {}, reappeared: true });
    const updated = change('updated', 2, { from: {}, to: { 이름: 'b' } });
    const deleted = change('deleted', 3, { from: { 이름: 'b' }, mergedInto: 'r9' });
    expect(mergeChanges([back, updated]).event?.data.reappeared).toBe(true);
    expect(mergeChanges([updated, deleted]).event?.data.mergedInto).toBe('r9');
    expect(mergeChanges([back, deleted]).taken).toBe(2);
    expect(mergeChanges([back, deleted]).event?.data.reappeared).toBeUndefined();
  });
});
