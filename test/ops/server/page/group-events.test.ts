import { describe, expect, it } from 'vitest';
import { authorOf, groupEvents, nameOf } from '../../../../page/group-events.js';
import { buildEvent } from '../../../../src/events/envelope.js';
import type { ChangeEvent } from '../../../../src/events/types.js';
import { readyMadeLists, type ListRef } from '../../../../src/crm/lists/lists.js';
import { viewOf } from '../../../../src/ops/server/page/event-view.js';

const START = Date.parse('2026-03-02T04:10:00.000Z');
const PERSON = { peopleId: 'p1' };
const HA = { type: 'user', id: 'u1', name: '김하나' };
const SYSTEM = { type: 'field', id: null, name: null };

type Given = Partial<Omit<ChangeEvent['data'], 'after'>> & {
  list: ListRef;
  verb?: string;
  id: string;
  after?: object;
  /** Seconds after the start. */
  at: number;
  seenAt?: number;
};

function event({ list, verb = 'updated', id, after = {}, at, seenAt = at + 1, ...data }: Given) {
  const iso = (seconds: number): string => new Date(START + seconds * 1_000).toISOString();
  const made = buildEvent({
    workspace: 'acme',
    list: list as 'todo',
    verb: verb as 'updated',
    recordId: id,
    time: iso(at),
    contentDigest: `${id} ${verb} ${at}`,
    data: {
      before: null,
      after: { id, ...after },
      changes: [],
      sequence: 1,
      class: 'edited',
      detectedBy: 'both',
      observedAt: iso(seenAt),
      sweep: null,
      ...data,
    } as ChangeEvent['data'],
  });
  return viewOf({ logId: `${START + seenAt * 1_000}-${counter++}`, event: made });
}
let counter = 0;

const row = (id: string, fieldName: string, fieldValue: unknown, rest: Partial<Given> = {}) =>
  event({
    list: readyMadeLists.byName('people_history') as ListRef,
    verb: 'created',
    id,
    at: 0,
    actor: HA,
    ...rest,
    after: { ...PERSON, fieldName, fieldValue, ...rest.after },
  });
const person = (field: string, after: unknown, rest: Partial<Given> = {}) =>
  event({
    list: 'people',
    id: 'p1',
    at: 0,
    changes: [{ field, before: null, after }],
    after: { 이름: '오주하' },
    ...rest,
  });
const counters = (rest: Partial<Given> = {}) => person('미완료 TODO', 3, { class: 'refreshed', at: 1, ...rest });

/** As the log has them: the newest first. */
const grouped = (...events: ReturnType<typeof event>[]) => groupEvents(events.toReversed());
const shape = (groups: ReturnType<typeof grouped>) =>
  groups.map(({ lead, others }) => [lead.type.slice(4), ...others.map(({ type }) => type.slice(4))]);

describe('page: one edit is one row', () => {
  it('an edit has the row of its history, its activity and the counters of its record folded in', () => {
    const activity = event({
      list: 'activity',
      verb: 'created',
      id: 'a1',
      at: 0,
      after: { ...PERSON, type: 'todoCreate', todoId: 't1' },
    });
    const todo = event({ list: 'todo', verb: 'created', id: 't1', at: 0, after: { ...PERSON, 내용: '전화하기' } });
    const kept = row('h1', '미완료 TODO', 3, { actor: SYSTEM });
    expect(shape(grouped(kept, activity, todo, counters()))).toEqual([
      ['todo.created', 'person.updated', 'person_activity.created', 'person_history.created'],
    ]);
  });

  it('in whatever order events arrive, the row is the same and keeps its key while newer ones join it', () => {
    const [history, edit, late] = [row('h1', '등급', 'A'), person('등급', 'A'), counters()];
    const orders = [
      [history, edit, late],
      [history, late, edit],
      [edit, late, history],
    ];
    for (const order of orders) {
      const [first] = grouped(...order);
      expect(first?.lead).toBe(edit);
      expect(first?.others).toHaveLength(2);
      expect(first?.key).toBe(grouped(...order.slice(0, 1))[0]?.key);
    }
  });

  it('what a save yields beside `updated` leads: a completed todo is completed', () => {
    const todo = { list: 'todo', id: 't1', at: 0, after: PERSON } as const;
    expect(shape(grouped(event({ ...todo }), event({ ...todo, verb: 'completed' })))).toEqual([
      ['todo.completed', 'todo.updated'],
    ]);
  });

  it('edits of different records, people or moments stay apart', () => {
    const other = { type: 'user', id: 'u2', name: '이둘' };
    expect(grouped(person('등급', 'A'), event({ list: 'people', id: 'p2', at: 0 }))).toHaveLength(2);
    expect(grouped(person('등급', 'A', { actor: HA }), person('전화', '1', { actor: other, at: 2 }))).toHaveLength(2);
    expect(grouped(person('등급', 'A'), person('전화', '1', { at: 30 }))).toHaveLength(2);
    expect(grouped(person('등급', 'A'), counters({ at: 90 }))).toHaveLength(2);
  });

  it('a row of a history belongs to the edit of its field, although another is nearer', () => {
    const [grade, phone] = [person('등급', 'A', { at: 40 }), person('전화', '1', { at: 2 })];
    const groups = grouped(row('h1', '등급', 'A'), phone, grade);
    expect(groups.map(({ lead, others }) => [lead, others.length])).toEqual([
      [grade, 1],
      [phone, 0],
    ]);
  });

  it('rows about a record whose list is not read are one row, with the name of the record', () => {
    const deal = { list: 'history', after: { peopleId: undefined, dealId: 'd1' } } as const;
    const rows = [row('h1', '이름', '딜 7', { ...deal }), row('h2', '금액', 49_700_000, { ...deal, at: 0.1 })];
    const [group, ...more] = grouped(...rows);
    expect(more).toEqual([]);
    expect(group && nameOf(group)).toBe('딜 7');
    expect(group?.lead.edit).toBe(true);
  });

  it('a row says who made an edit, when its field and value are those of the event', () => {
    const [first] = grouped(row('h1', '등급', 'A'), person('등급', 'A'));
    expect(first && authorOf(first)).toMatchObject({ name: '김하나' });
    const [unsure] = grouped(row('h1', '등급', 'B'), person('등급', 'A'));
    expect(unsure?.others).toHaveLength(1);
    expect(unsure && authorOf(unsure)).toBeNull();
  });

  it('a todo that became due is a row of its own: nobody edited it', () => {
    const todo = { list: 'todo', id: 't1', at: 0, after: PERSON } as const;
    const due = event({ ...todo, verb: 'overdue', detectedBy: 'clock' });
    expect(shape(grouped(event({ ...todo, verb: 'created' }), due, counters()))).toEqual([
      ['todo.overdue'],
      ['todo.created', 'person.updated'],
    ]);
  });
});
