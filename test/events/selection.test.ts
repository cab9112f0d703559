import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileWhere } from '../../src/delivery/handlers/where.js';
import { compileSelection, explainSelection, readsWorkspace, type Selection } from '../../src/events/pattern.js';
import type { Verb } from '../../src/events/kinds.js';
import type { Actor } from '../../src/events/types.js';
import { changeEvent, type EventSpec } from '../support/events.js';

const selects = (selection: Partial<Selection>, spec: Partial<EventSpec> = {}): boolean =>
  compileSelection({ on: ['crm.*'], ...selection })(changeEvent({ record: 'r1', sequence: 2, ...spec }));

describe('selection', () => {
  it('any of several patterns selects, and an empty list selects no event', () => {
    expect(selects({ on: ['crm.todo.*', 'crm.person.updated'] })).toBe(true);
    expect(selects({ on: [] })).toBe(false);
  });

  it('`workspaces`, `lists` and `class` restrict it', () => {
    expect(selects({ workspaces: ['acme'] })).toBe(true);
    expect(selects({ workspaces: ['other'] })).toBe(false);
    expect(selects({ lists: ['people', 'memo'] })).toBe(true);
    expect(selects({ lists: ['memo'] })).toBe(false);
    expect(selects({ class: 'edited' })).toBe(true);
    expect(selects({ class: 'edited' }, { class: 'refreshed' })).toBe(false);
  });

  it('`fields` requires that one of the fields of an updated event has changed', () => {
    expect(selects({ fields: ['담당자'] })).toBe(true);
    expect(selects({ fields: ['담*'] })).toBe(true);
    expect(selects({ fields: ['이메일', '담당자'] })).toBe(true);
    expect(selects({ fields: ['이메일'] })).toBe(false);
  });

  it('`fields` with the class edited requires that one of them was edited', () => {
    const event = changeEvent({ record: 'r1', sequence: 2 });
    const [before, after] = [
      { id: 'u', name: 'a' },
      { id: 'u', name: 'b' },
    ];
    const changes = [
      { field: '담당자', before, after },
      { field: '전화', before: '1', after: '2' },
    ];
    const of = (fields: string[], more: object = {}): boolean =>
      compileSelection({ on: ['crm.*'], fields, ...more })({ ...event, data: { ...event.data, changes } });
    expect([of(['담당자']), of(['담당자'], { class: 'edited' }), of(['전화'], { class: 'edited' })]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('a Korean field name matches in any Unicode composition', () => {
    expect(selects({ fields: ['담당자'.normalize('NFD')] })).toBe(true);
  });

  const USER = { type: 'user', id: 'u-1', name: '담당A' };
  const by = (
    actor: Actor | undefined,
    rules: Pick<Selection, 'from' | 'notFrom'>,
    verb: Verb = 'updated',
  ): boolean => {
    const event = changeEvent({ record: 'r1', sequence: 2, verb });
    const told = { ...event, data: { ...event.data, ...(actor !== undefined && { actor }) } };
    return compileSelection({ on: ['crm.*'], ...rules })(told);
  };

  it.each<[string, Actor | undefined, Pick<Selection, 'from' | 'notFrom'>, boolean]>([
    ['a kind', USER, { from: ['user'] }, true],
    ['another kind', USER, { from: ['api', 'workflow'] }, false],
    ['one actor', USER, { from: [{ type: 'user', id: 'u-1' }] }, true],
    ['an actor of another kind with this id', USER, { from: [{ type: 'api', id: 'u-1' }] }, false],
    ['no actor', undefined, { from: ['user'] }, false],
    ['no actor, where that is allowed', undefined, { from: ['user', 'unknown'] }, true],
    ['a kind that is left out', USER, { notFrom: ['user'] }, false],
    ['one actor that is left out', USER, { notFrom: [{ type: 'user', id: 'u-1' }] }, false],
    ['another actor than the one that is left out', USER, { notFrom: [{ type: 'user', id: 'u-2' }] }, true],
    ['no actor, with one that is left out', undefined, { notFrom: [{ type: 'user', id: 'u-1' }] }, true],
  ])('`from` and `notFrom`: %s', (_what, actor, rules, expected) => {
    expect(by(actor, rules)).toBe(expected);
  });

  it('`from` does not restrict snapshots, which are no change', () => {
    expect(by(undefined, { from: ['user'] }, 'snapshot')).toBe(true);
    expect(by(undefined, { from: ['user'] }, 'created')).toBe(false);
  });

  it('`fields` does not restrict created and deleted events', () => {
    expect(selects({ fields: ['이메일'] }, { verb: 'created' })).toBe(true);
    expect(selects({ fields: ['이메일'] }, { verb: 'deleted' })).toBe(true);
  });

  it('only the logs of its workspaces are read', () => {
    expect(readsWorkspace({ on: ['*'] }, 'acme')).toBe(true);
    expect(readsWorkspace({ on: ['*'], workspaces: ['other'] }, 'acme')).toBe(false);
  });

  it('an explanation names an option exactly where the event is not selected', () => {
    const one = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
    const selection = fc.record({
      on: fc.subarray(['crm.person.*', 'crm.memo.updated', '*.created', 'crm.*.deleted']),
      workspaces: one(['acme'], ['other']),
      lists: one(['people'], ['memo']),
      class: one('edited' as const, 'refreshed' as const),
      fields: one(['담당자'], ['이메일']),
      from: one(['user' as const], ['unknown' as const]),
      notFrom: one(['unknown' as const], ['api' as const]),
      where: one(
        compileWhere({ 담당자: { rises: true } }),
        compileWhere({ any: [{ 'after.id': 'r2' }, { 'data.class': 'edited' }] }),
        (event: { subject: string }) => event.subject === 'r1' || fail(),
      ),
    });
    const event = fc
      .record({
        record: fc.constantFrom('r1', 'r2'),
        sequence: fc.constantFrom(1, 2),
        verb: fc.constantFrom('created' as const, 'updated' as const, 'deleted' as const),
        list: fc.constantFrom('people' as const, 'memo' as const),
        changed: fc.constantFrom(['담당자'], ['이메일']),
        class: fc.constantFrom('edited' as const, 'refreshed' as const),
      })
      .map(changeEvent);
    fc.assert(
      fc.property(selection, event, (options, given) => {
        const why = explainSelection(options)(given);
        expect(why === null).toBe(compileSelection(options)(given));
        if (why === null) return;
        // Without the option that it names, another one is the reason, or the event is selected.
        const without = explainSelection({ ...options, [why.option]: why.option === 'on' ? ['*'] : undefined })(given);
        expect(without?.option).not.toBe(why.option);
      }),
      { numRuns: 500 },
    );
  });
});

function fail(): never {
  throw new Error('not today');
}
