import { describe, expect, it } from 'vitest';
import { heirOf, movedLinks } from '../../../src/detect/merge.js';
import type { ListName } from '../../../src/events/lists.js';
import type { ChangeEvent, Verb } from '../../../src/events/types.js';
import { changeEvent } from '../../support/fan-out.js';

const AT = Date.parse('2026-03-02T00:00:00.000Z');
const iso = (minutes: number): string => new Date(AT + minutes * 60_000).toISOString();

function event(list: ListName, verb: Verb, record: string, data: Partial<ChangeEvent['data']>): ChangeEvent {
  const made = changeEvent({ record, sequence: 1, list, verb });
  return { ...made, data: { ...made.data, ...data } };
}
const linkMoved = (from: string, to: string | null): ChangeEvent =>
  event('todo', 'updated', `${from}-${String(to)}`, { changes: [{ field: 'peopleId', before: from, after: to }] });
const merge = (peopleId: string, minutes = 0): ChangeEvent =>
  event('activity', 'created', `m-${peopleId}`, { after: { id: 'm', type: 'merge', peopleId, date: iso(minutes) } });
const gone = (id: string, minutes: number): ChangeEvent => event('people', 'deleted', id, { observedAt: iso(minutes) });

describe('the heir of a vanished record', () => {
  const heir = (events: ChangeEvent[], missing: string[] = ['x']): string | undefined =>
    heirOf('x', movedLinks(events), { missing, beforeMs: AT + 60_000 });

  it('is who took over all that was linked to it, when an activity tells of a merge into that one', () => {
    expect(heir([merge('y'), linkMoved('x', 'y'), linkMoved('x', 'y')])).toBe('y');
  });

  it.each<[string, ChangeEvent[]]>([
    ['links moved, and nobody tells of a merge', [linkMoved('x', 'y')]],
    ['the merge was into another', [merge('z'), linkMoved('x', 'y')]],
    ['nothing was linked to it', [merge('y')]],
    ['a link moved to another as well', [merge('y'), linkMoved('x', 'y'), linkMoved('x', 'z')]],
    ['a link was cut as well', [merge('y'), linkMoved('x', 'y'), linkMoved('x', null)]],
    ['the merge was so late that who went by it may not be missed yet', [merge('y', 2), linkMoved('x', 'y')]],
    ['somebody else was told to be gone after the merge', [merge('y'), linkMoved('x', 'y'), gone('w', 1)]],
  ])('is nobody where %s', (_why, events) => {
    expect(heir(events)).toBeUndefined();
  });

  it('is nobody while somebody else who is missing may be the one that was merged', () => {
    const events = [merge('y'), linkMoved('x', 'y')];
    expect(heir(events, ['x', 'w'])).toBeUndefined();
    expect(heir([...events, linkMoved('w', 'y')], ['x', 'w'])).toBeUndefined();
    expect(heir([...events, linkMoved('w', null)], ['x', 'w'])).toBe('y');
    expect(heir([...events, linkMoved('w', 'z')], ['x', 'w'])).toBe('y');
  });

  it('is not doubted for who was gone before the merge', () => {
    expect(heir([merge('y'), linkMoved('x', 'y'), gone('w', -1)])).toBe('y');
  });
});
