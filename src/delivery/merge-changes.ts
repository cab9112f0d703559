/**
 * Merges the changes of one record into one event, for subscriptions with debounce. Pure.
 *
 *   created, updated …          created, with the last image
 *   updated, updated …          updated, from the first `before` to the last `after`, without fields as at first
 *   anything, then deleted      deleted; events after it belong to the next merge
 *   derived and schema events   are not merged: they describe a moment, not a state
 */
import { comparedFields, diffRecords, type Comparison } from '../crm/canonical.js';
import { builtInLists } from '../crm/lists/lists.js';
import { isSameActor } from '../events/actor.js';
import { mergedEventId, objectOf } from '../events/envelope.js';
import type { ChangeEvent, FieldChange } from '../events/types.js';

interface MergedChanges {
  /** How many of the events belong to the merge, from the first on. */
  taken: number;
  event: ChangeEvent | null;
}

/** How detection compares the record of an event; undefined when that is not known. */
export type ComparisonOf = (event: ChangeEvent) => Comparison | undefined;

const OPENING = ['created', 'snapshot', 'updated'];

/** Whether later events can be merged into this one. */
export function isOpen(event: ChangeEvent): boolean {
  return OPENING.includes(verbOf(event));
}

/**
 * @param events of one record, in order; the merge takes events from the front
 * @param comparisonOf @defaultValue the comparison of a list without options
 */
export function mergeChanges(
  events: readonly [ChangeEvent, ...ChangeEvent[]],
  comparisonOf: ComparisonOf = () => undefined,
): MergedChanges {
  const [first, ...rest] = events;
  const members: [ChangeEvent, ...ChangeEvent[]] = [first];
  for (const event of rest) {
    if (!belongsTo(event, members.at(-1) ?? first)) break;
    members.push(event);
  }
  return { taken: members.length, event: members.length === 1 ? first : fold(members, comparisonOf) };
}

function belongsTo(event: ChangeEvent, ahead: ChangeEvent): boolean {
  const sameRecord = event.source === ahead.source && event.subject === ahead.subject;
  return sameRecord && isOpen(ahead) && ['updated', 'deleted'].includes(verbOf(event));
}

/** By sequence: in the log, an event that another process has found late may be behind the one after it. */
function fold(taken: readonly [ChangeEvent, ...ChangeEvent[]], comparisonOf: ComparisonOf): ChangeEvent | null {
  const members = taken.toSorted((one, other) => one.data.sequence - other.data.sequence) as [
    ChangeEvent,
    ...ChangeEvent[],
  ];
  const [first] = members;
  const last = members.at(-1) ?? first;
  const isDeleted = verbOf(last) === 'deleted';
  const isUpdate = verbOf(first) === 'updated' && verbOf(last) === 'updated';
  const changes = isUpdate ? foldChanges(members, comparisonOf) : [];
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

function foldChanges(
  members: readonly [ChangeEvent, ...ChangeEvent[]],
  comparisonOf: ComparisonOf,
): readonly FieldChange[] {
  const [first] = members;
  const last = members.at(-1) ?? first;
  const [before, after] = [first.data.before, last.data.after];
  // Without `before` the first value of a field is not known, so all named fields stay.
  const haveImages = members.every(({ data }) => data.before !== null);
  const rules = comparisonOf(last) ?? usualComparison(last);
  if (rules === undefined || before === null || after === null || !haveImages) return namedChanges(members);
  // As the events name them, not today's rules: a named field stays, one that only a schema change moved is absent.
  const named = namedFields(members, rules);
  const compared = { ...rules, compares: (field: string) => named.has(field) };
  return diffRecords(before, after, compared);
}

/** The comparison of a list without options; undefined for a list that is not built in. */
function usualComparison(event: ChangeEvent): Comparison | undefined {
  const list = builtInLists.byObject(objectOf(event));
  return list && { list, nullIsAbsent: true, compares: () => true };
}

function namedChanges(members: readonly ChangeEvent[]): FieldChange[] {
  const folded = new Map<string, FieldChange>();
  for (const change of members.flatMap(({ data }) => data.changes)) {
    const earlier = folded.get(change.field);
    const { field, before, after } = change;
    folded.set(field, { field, before: earlier === undefined ? before : earlier.before, after });
  }
  return [...folded.values()].toSorted((a, b) => (a.field < b.field ? -1 : 1));
}

/** Canonical names, each as its images spell it. Where one spelling is two fields, those that the rules compare. */
function namedFields(members: readonly ChangeEvent[], rules: Comparison): ReadonlySet<string> {
  const everything = { ...rules, compares: () => true };
  const named = members.flatMap(({ data: { before, after, changes } }) => {
    const fields = [before, after].flatMap((image) => [...comparedFields(image ?? {}, everything)]);
    return changes.flatMap((change) => {
      const meant = fields.filter(([, name]) => name === change.field).map(([key]) => key.normalize('NFC'));
      const compared = meant.filter((name) => rules.compares(name));
      return compared.length > 0 ? compared : meant;
    });
  });
  return new Set(named);
}

function verbOf({ type }: ChangeEvent): string {
  return type.slice(type.lastIndexOf('.') + 1);
}
