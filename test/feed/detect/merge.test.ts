import { describe, expect, it } from 'vitest';
import { mergeMentions, survivorOf } from '../../../src/feed/detect/removal.js';
import type { CrmRecord } from '../../../src/crm/record.js';
import type { ChangeEvent } from '../../../src/events/types.js';

const createdEvent = (after: CrmRecord | null, type = 'crm.person_activity.created', subject = after?.id ?? 'x') =>
  ({ type, subject, data: { after } }) as unknown as ChangeEvent;
const merge = (id: string, more: object): CrmRecord => ({ id, type: 'merge', ...more });
const mentions = (events: ChangeEvent[], ...vanished: string[]) =>
  Object.fromEntries([...mergeMentions(events, new Set(vanished))].map(([id, others]) => [id, [...others]]));

describe('removal: activities of type merge', () => {
  it('name the vanished record and others, at whatever depth, but not themselves', () => {
    const activity = merge('a1', { people: { id: 'kept' }, merged: [{ id: 'gone' }], count: 2, note: null });
    expect(mentions([createdEvent(activity)], 'gone')).toEqual({ gone: ['merge', 'kept'] });
  });

  it.each([
    ['an activity of another type', createdEvent({ id: 'a1', type: 'memoCreate', a: 'gone', b: 'kept' })],
    ['a record of another list', createdEvent(merge('a1', { a: 'gone', b: 'kept' }), 'crm.memo.created')],
    ['an activity that was removed', createdEvent(null)],
    ['an activity whose own id is that of the vanished record', createdEvent(merge('gone', { b: 'kept' }))],
  ])('are not what %s is', (_what, event) => {
    expect(mentions([event], 'gone')).toEqual({});
  });
});

const present =
  (...ids: string[]) =>
  (id: string) =>
    ids.includes(id);

it('removal: the survivor of a merge is the one named record that is still there; undefined when there are none or several', () => {
  const named = new Set(['merge', 'p1', 'p2']);
  expect(survivorOf(named, present('p2', 'p9'))).toBe('p2');
  expect(survivorOf(named, present('p1', 'p2'))).toBeUndefined();
  expect(survivorOf(named, present())).toBeUndefined();
});
