/**
 * What a handler knows of its event at compile time. Nothing here runs: `npm run typecheck` compiles it. That events really are
 * so is for `test/events/event-types.test.ts`, that patterns select so for `test/events/pattern.test.ts`.
 */
import { describe, expectTypeOf, it } from 'vitest';
import { defineHandler } from '../../src/index.js';
import type {
  ChangeClass,
  ChangeEvent,
  CrmRecord,
  EventOf,
  EventType,
  FeedEvent,
  FieldChange,
  TypedEvent,
} from '../../src/index.js';

type On<Pattern extends string> = EventOf<readonly [Pattern]>;
type ListEvent = Extract<EventType, `${string}.schema_changed`>;
type Unchanged = Extract<EventType, `${string}.unchanged`>;
type NamedEvent = ListEvent | Unchanged;

describe('event types: what a pattern selects', () => {
  it('selects no event of a list unless the pattern ends in .schema_changed', () => {
    expectTypeOf<On<'crm.*'>['type']>().toEqualTypeOf<Exclude<EventType, NamedEvent>>();
    expectTypeOf<On<'crm.**'>['type']>().toEqualTypeOf<Exclude<EventType, NamedEvent>>();
    expectTypeOf<On<'crm.person.**created'>['type']>().toEqualTypeOf<'crm.person.created'>();
    expectTypeOf<
      On<'crm.memo.*'>['type']
    >().toEqualTypeOf<`crm.memo.${'created' | 'updated' | 'deleted' | 'snapshot'}`>();
    expectTypeOf<On<'crm.*.deleted'>['type']>().toEqualTypeOf<Extract<EventType, `${string}.deleted`>>();
    expectTypeOf<On<'crm.person.schema_changed'>['type']>().toEqualTypeOf<'crm.person.schema_changed'>();
    expectTypeOf<On<'crm.*.schema_changed'>['type']>().toEqualTypeOf<ListEvent>();
    expectTypeOf<On<'*.schema_changed'>['type']>().toEqualTypeOf<ListEvent>();
    expectTypeOf<On<'crm.*.unchanged'>['type']>().toEqualTypeOf<Unchanged>();
    expectTypeOf<On<'crm.person.schema_*'>>().toBeNever();
    expectTypeOf<On<'crm.persons.created'>>().toBeNever();
  });

  it("selects the feed's own events by patterns that begin with changefeed. alone", () => {
    expectTypeOf<On<'changefeed.*'>>().toEqualTypeOf<FeedEvent>();
    expectTypeOf<On<'changefeed.state.lost'>['type']>().toEqualTypeOf<'changefeed.state.lost'>();
    expectTypeOf<Extract<On<'crm.*' | '*.updated'>, FeedEvent>>().toBeNever();
  });

  it('selects by patterns that begin with `*`', () => {
    expectTypeOf<On<'*'>>().toEqualTypeOf<TypedEvent<Exclude<EventType, NamedEvent>>>();
    expectTypeOf<On<'*.created'>['type']>().toEqualTypeOf<Extract<EventType, `${string}.created`>>();
  });

  it('knows nothing of patterns that are made while the program runs', () => {
    type Anything = TypedEvent | FeedEvent;
    expectTypeOf<EventOf<string[]>>().toEqualTypeOf<Anything>();
    expectTypeOf<On<`crm.${string}`>>().toEqualTypeOf<Anything>();
  });

  it('adds the snapshots that `afterRewind` asks for, and what follows them', () => {
    type Type = 'crm.todo.overdue' | 'crm.todo.snapshot' | 'changefeed.snapshot.complete';
    defineHandler({
      name: 'x',
      on: ['crm.todo.overdue'],
      afterRewind: 'snapshot',
      handle: ({ type }) => void expectTypeOf(type).toEqualTypeOf<Type>(),
    });
  });

  it('adds the snapshots that `start` asks for, of every list that the patterns name', () => {
    expectTypeOf<EventOf<readonly ['crm.todo.overdue'], 'snapshot'>['type']>().toEqualTypeOf<
      'crm.todo.overdue' | 'crm.todo.snapshot'
    >();
    defineHandler({
      name: 'h',
      on: ['crm.todo.overdue'],
      start: 'snapshot',
      handle(event) {
        // @ts-expect-error A snapshot has no due date.
        event.data.due.slice(0, 10);
        if (event.type === 'crm.todo.overdue') expectTypeOf(event.data.due).toEqualTypeOf<string>();
      },
    });
    expectTypeOf<EventOf<'crm.todo.completed'>>().toEqualTypeOf<TypedEvent<'crm.todo.completed'>>();
    expectTypeOf<EventOf<'crm.todo.*'>>().toEqualTypeOf<EventOf<readonly ['crm.todo.*']>>();
    const start = 'snapshot' as string;
    defineHandler({
      name: 'd',
      on: ['crm.todo.overdue'],
      start,
      handle: ({ type }) => void expectTypeOf(type).toEqualTypeOf<'crm.todo.overdue' | 'crm.todo.snapshot'>(),
    });
    defineHandler({
      name: 'n',
      on: ['crm.todo.overdue'],
      start: 'beginning',
      handle: ({ type }) => void expectTypeOf(type).toEqualTypeOf<'crm.todo.overdue'>(),
    });
  });
});

describe('event types: what an event carries', () => {
  it('has `after` in every event of people but deleted: a handler of crm.person.* needs to ask for no more', () => {
    defineHandler({
      name: 'people',
      on: ['crm.person.*'],
      handle(event) {
        // @ts-expect-error Of a deleted person there is nothing after it.
        event.data.after.id.slice(1);
        if (event.type === 'crm.person.deleted') expectTypeOf(event.data.after).toEqualTypeOf<null>();
        else expectTypeOf(event.data.after).toEqualTypeOf<CrmRecord>();
        if (event.data.after !== null) expectTypeOf(event.data.after).toEqualTypeOf<CrmRecord>();
        // Whatever the verb, it can be asked for what only some carry.
        expectTypeOf(event.data.mergedInto).toEqualTypeOf<string | undefined>();
        expectTypeOf(event.data.changes.map(({ field }) => field)).toEqualTypeOf<string[]>();
      },
    });
  });

  it('says per verb what is there', () => {
    type Data<Type extends EventType> = TypedEvent<Type>['data'];
    type Images<Type extends EventType> = [Data<Type>['before'], Data<Type>['after']];
    expectTypeOf<Images<'crm.person.created'>>().toEqualTypeOf<[null, CrmRecord]>();
    expectTypeOf<Images<'crm.memo.snapshot'>>().toEqualTypeOf<[null, CrmRecord]>();
    expectTypeOf<Images<'crm.person.updated'>>().toEqualTypeOf<[CrmRecord | null, CrmRecord]>();
    expectTypeOf<Images<'crm.person.deleted'>>().toEqualTypeOf<[CrmRecord | null, null]>();
    expectTypeOf<Images<'crm.person.schema_changed'>>().toEqualTypeOf<[null, null]>();
    expectTypeOf<Images<'crm.todo.completed'>>().toEqualTypeOf<[CrmRecord | null, CrmRecord]>();
    expectTypeOf<Images<'crm.todo.overdue'>>().toEqualTypeOf<[null, CrmRecord]>();

    expectTypeOf<Data<'crm.person.created'>['reappeared']>().toEqualTypeOf<true | undefined>();
    expectTypeOf<Data<'crm.person.created'>['class']>().toEqualTypeOf<'edited'>();
    expectTypeOf<Data<'crm.person.updated'>['class']>().toEqualTypeOf<ChangeClass>();
    expectTypeOf<Data<'crm.person.updated'>['changes']>().toEqualTypeOf<readonly FieldChange[]>();
    expectTypeOf<Data<'crm.person.updated'>['schema']>().toEqualTypeOf<undefined>();
    expectTypeOf<Data<'crm.person.schema_changed'>['schema']['field']>().toEqualTypeOf<string>();
    expectTypeOf<Data<'crm.todo.completed'>['derivedFrom']>().toEqualTypeOf<string>();
    expectTypeOf<Data<'crm.todo.overdue'>['due']>().toEqualTypeOf<string>();
    expectTypeOf<Data<'crm.todo.overdue'>['detectedBy']>().toEqualTypeOf<'clock'>();
    expectTypeOf<Data<'crm.todo.updated'>['due']>().toEqualTypeOf<undefined>();
  });

  it('is a ChangeEvent, whatever its type', () => {
    expectTypeOf<TypedEvent>().toExtend<ChangeEvent>();
    expectTypeOf<FeedEvent>().toExtend<ChangeEvent>();
  });
});
