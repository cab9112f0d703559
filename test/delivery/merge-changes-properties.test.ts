import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeChanges } from '../../src/delivery/merge-changes.js';
import { buildEvent } from '../../src/events/envelope.js';
import type { ChangeEvent, FieldChange } from '../../src/events/types.js';

type Image = Record<string, number | null>;

const FIELDS = ['가', '나', '다', '라'];
const image = fc.record(Object.fromEntries(FIELDS.map((field) => [field, fc.constantFrom(null, 1, 2, 3)])));

function diff(before: Image, after: Image): FieldChange[] {
  return FIELDS.filter((field) => before[field] !== after[field]).map((field) => ({
    field,
    before: before[field],
    after: after[field],
  }));
}

function apply(changes: readonly FieldChange[], to: Image): Image {
  return { ...to, ...(Object.fromEntries(changes.map(({ field, after }) => [field, after])) as Image) };
}

function story(looks: readonly Image[]): ChangeEvent[] {
  return looks.slice(1).flatMap((after, index) => {
    const before = looks[index]!;
    const changes = diff(before, after);
    if (changes.length === 0) return [];
    const data = { before: { id: 'r', ...before }, after: { id: 'r', ...after }, changes, sequence: index + 1 };
    const rest = { class: 'edited', detectedBy: 'both', observedAt: '2026-03-02T04:10:00.000Z', sweep: 's' } as const;
    return [
      buildEvent({
        workspace: 'acme',
        list: 'people',
        verb: 'updated',
        recordId: 'r',
        time: rest.observedAt,
        contentDigest: String(index),
        data: { ...data, ...rest },
      }),
    ];
  });
}

const stories = fc
  .array(image, { minLength: 2, maxLength: 12 })
  .map((looks) => story(looks))
  .filter((events): events is [ChangeEvent, ...ChangeEvent[]] => events.length > 0);

const fieldsOf = (image: unknown): Image => {
  const { id: _id, ...fields } = image as Image;
  return fields;
};

describe('merge: changes of a record', () => {
  it('the merged event leads from the first image to the last, as applying them one by one does', () => {
    fc.assert(
      fc.property(stories, (events) => {
        const { taken, event } = mergeChanges(events);
        const before = fieldsOf(events[0].data.before);
        const after = fieldsOf(events.at(-1)!.data.after);
        expect(taken).toBe(events.length);
        expect(event?.data.changes ?? []).toEqual(diff(before, after));
        expect(apply(event?.data.changes ?? [], before)).toEqual(after);
      }),
    );
  });

  it('merging in two steps gives the same event', () => {
    fc.assert(
      fc.property(stories, fc.nat(), (events, cut) => {
        const at = 1 + (cut % events.length);
        const front = mergeChanges(events.slice(0, at) as [ChangeEvent, ...ChangeEvent[]]).event;
        const steps = [...(front === null ? [] : [front]), ...events.slice(at)];
        const [first, ...rest] = steps;
        const twice = first === undefined ? null : mergeChanges([first, ...rest]).event;
        expect(twice?.data.changes ?? []).toEqual(mergeChanges(events).event?.data.changes ?? []);
      }),
    );
  });
});
