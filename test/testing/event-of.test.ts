import { describe, expect, expectTypeOf, it } from 'vitest';
import { LIST_NAMES, builtInLists } from '../../src/crm/lists/lists.js';
import { typesOf, NOTICE_TYPES } from '../../src/events/catalogue.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { eventOf } from '../../src/testing/index.js';
import { problemsOf } from '../support/event-schemas.js';

const TYPES = [...LIST_NAMES.flatMap((list) => typesOf(builtInLists.parse(list)!)), ...NOTICE_TYPES];

describe('testing: eventOf', () => {
  it.each(TYPES)('testing: an event of type %s is complete and valid by the schema', (type) => {
    const event = eventOf(type as 'crm.person.updated') as ChangeEvent;
    expect(event.type).toBe(type);
    expect(problemsOf(event)).toEqual([]);
  });

  it('testing: changes are computed from before and after, and all other fields are as before', () => {
    const event = eventOf('crm.person.updated', {
      before: { 등급: 'B' },
      after: { 등급: 'A', 담당자: { id: 'u1', name: '담당' } },
    });
    expect(event.data.changes).toEqual([
      { field: '담당자', before: { id: 'test', name: '테스트' }, after: { id: 'u1', name: '담당' } },
      { field: '등급', before: 'B', after: 'A' },
    ]);
    expect(event.data.after).toEqual({ ...event.data.before, 등급: 'A', 담당자: { id: 'u1', name: '담당' } });
    expect(event.data.class).toBe('edited');
  });

  it('testing: a sequence is as large as in production, and grows with the change', () => {
    const [created, updated] = [eventOf('crm.person.created'), eventOf('crm.person.updated')];
    expect([created.data.sequence, updated.data.sequence]).toEqual([1_883_093_401_075_713, 1_883_093_401_075_714]);
    expect(eventOf('crm.person.created', { sequence: 7 }).data.sequence).toBe(7);
  });

  it('testing: what only the system keeps is a refresh, as in production', () => {
    const event = eventOf('crm.person.updated', { before: { '진행중 딜 개수': 1 }, after: { '진행중 딜 개수': 2 } });
    expect(event.data.class).toBe('refreshed');
  });

  it('testing: the type brings its own change, with the fields of the test', () => {
    const event = eventOf('crm.todo.completed', { before: { 이름: '제안서' }, after: { 유형: 'TODO' } });
    expect(event.data.changes.map(({ field }) => field)).toContain('완료');
    expect(event.data.after).toMatchObject({ 이름: '제안서', 완료: true, 유형: 'TODO' });
    expect(event.data.before).toMatchObject({ 이름: '제안서', 완료: false });
  });

  it('testing: the same call gives the same event, and another content another id', () => {
    const parts = { after: { id: 'p1', 등급: 'A' } };
    expect(eventOf('crm.person.created', parts)).toEqual(eventOf('crm.person.created', parts));
    expect(eventOf('crm.person.created', parts).subject).toBe('p1');
    const other = { after: { id: 'p1', 등급: 'B' } };
    expect(eventOf('crm.person.created', other).id).not.toBe(eventOf('crm.person.created', parts).id);
  });

  it('testing: the event has the type that a handler of it gets', () => {
    expectTypeOf(eventOf('crm.person.deleted').data.after).toEqualTypeOf<null>();
    expectTypeOf(eventOf('changefeed.api.away').data.notice.message).toEqualTypeOf<string>();
  });

  it('testing: what is no type of an event is refused', () => {
    expect(() => eventOf('person.updated' as 'crm.person.updated')).toThrow('found "person.updated"');
    // @ts-expect-error A type of an object that is known is one of its types.
    expect(() => eventOf('crm.todo.compelted')).toThrow('did you mean "crm.todo.completed"');
    expect(eventOf('crm.invoice.paid').type).toBe('crm.invoice.paid');
  });
});
