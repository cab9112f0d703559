/**
 * Merges the changes of one record into one event, for subscriptions with debounce. Pure.
 *
 *   created, updated …          created, with the last image
 *   updated, updated …          updated, from the first `before` to the last `after`: the difference of the two
 *   anything, then deleted      deleted; events after it belong to the next merge
 *   derived and schema events   are not merged: they describe a moment, not a state
 */
import { diffRecords, type Comparison } from '../../crm/canonical.js';
import { USUAL, type ListDescriptor } from '../../crm/lists/descriptor.js';
import { builtInLists } from '../../crm/lists/lists.js';
import { isSameActor } from '../../events/actor.js';
import { mergedEventId, objectOf } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';

interface MergedChanges {
  /** How many of the events belong to the merge, from the first on. */
  taken: number;
  event: ChangeEvent | null;
}

const OPENING = ['created', 'snapshot', 'updated'];

/** Whether later events can be merged into this one. */
export function isOpen(event: ChangeEvent): boolean {
  return OPENING.includes(verbOf(event));
}

/**
 * @param events of one record, in order; the merge takes events from the front
 * @param comparison how detection compares the record. @defaultValue that of a list without options
 */
export function mergeChanges(
  events: readonly [ChangeEvent, ...ChangeEvent[]],
  comparison: Comparison = usualComparison(events[0]),
): MergedChanges {
  const [first, ...rest] = events;
  const members: [ChangeEvent, ...ChangeEvent[]] = [first];
  for (const event of rest) {
    if (!belongsTo(event, members.at(-1) ?? first)) break;
    members.push(event);
  }
  return { taken: members.length, event: members.length === 1 ? first : fold(members, comparison) };
}

function belongsTo(event: ChangeEvent, ahead: ChangeEvent): boolean {
  const sameRecord = event.source === ahead.source && event.subject === ahead.subject;
  return sameRecord && isOpen(ahead) && ['updated', 'deleted'].includes(verbOf(event));
}

/** By sequence: in the log, an event that another process has found late may be behind the one after it. */
function fold(taken: readonly [ChangeEvent, ...ChangeEvent[]], comparison: Comparison): ChangeEvent | null {
  const members = taken.toSorted((one, other) => one.data.sequence - other.data.sequence) as [
    ChangeEvent,
    ...ChangeEvent[],
  ];
  const [first] = members;
  const last = members.at(-1) ?? first;
  const isDeleted = verbOf(last) === 'deleted';
  const isUpdate = verbOf(first) === 'updated' && verbOf(last) === 'updated';
  const [before, after] = [first.data.before, last.data.after];
  const changes = isUpdate && before !== null && after !== null ? diffRecords(before, after, comparison) : [];
  if (isUpdate && changes.length === 0 && members.every(({ data }) => data.changes.length > 0)) return null;
  const ids = members.map(({ id }) => id);
  const [way, ...others] = new Set(members.map(({ data }) => data.detectedBy));
  const { actor, ...data } = last.data;
  return {
    ...last,
    id: mergedEventId(ids),
    type: isDeleted ? last.type : first.type,
    data: {
      ...data,
      ...(actor !== undefined && members.every((one) => isSameActor(one.data.actor, actor)) && { actor }),
      ...(first.data.reappeared && !isDeleted && { reappeared: true }),
      // The state before all changes; if the record was created in the same merge, the last image.
      before: isDeleted ? (first.data.before ?? last.data.before) : first.data.before,
      changes,
      class: members.some(({ data }) => data.class === 'edited') ? 'edited' : 'refreshed',
      detectedBy: way !== undefined && others.length === 0 ? way : 'both',
      merged: { ids, firstSequence: first.data.sequence, firstObservedAt: first.data.observedAt },
    },
  };
}

/** Of a list that the configuration does not name: all but the times of the change. Without an own one, no field has two spellings. */
function usualComparison(event: ChangeEvent): Comparison {
  const list = builtInLists.byObject(objectOf(event));
  const { modifiedAt }: Pick<ListDescriptor, 'modifiedAt'> = list ?? USUAL;
  return { list: list ?? 'people', nullIsAbsent: true, compares: (field) => !modifiedAt.includes(field) };
}

function verbOf({ type }: ChangeEvent): string {
  return type.slice(type.lastIndexOf('.') + 1);
}
