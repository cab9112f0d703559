/**
 * Changes of one record told as one, for subscriptions with `settle`. Pure.
 *
 *   created, updated …          created, with the last image
 *   updated, updated …          updated, from the first `before` to the last `after`; fields that are again what they were drop out
 *   anything, then deleted      deleted; what comes after it is another life of the record, and another merge
 *   derived and schema events   are merged into nothing and nothing into them: they tell of a moment, not of a state
 */
import { meaningOf, readFields, type CanonicalFields, type Comparison } from '../crm/canonical.js';
import { changesByName, diffFields } from '../crm/diff.js';
import { listOf, mergedEventId, workspaceOf } from '../events/envelope.js';
import type { ListName } from '../events/lists.js';
import type { CrmRecord } from '../crm/record.js';
import type { ChangeData, ChangeEvent, FieldChange } from '../events/types.js';

export interface Merge {
  /** How many of the events belong to it, from the first on. */
  taken: number;
  /** Null when nothing is left of them: every field is again what it was. */
  event: ChangeEvent | null;
}

/** How detection compares the records of a list; undefined where that is not known. */
export type ComparisonOf = (workspace: string, list: ListName) => Comparison | undefined;

export interface MergeOptions {
  /** @defaultValue as without any options of the list */
  comparisonOf?: ComparisonOf | undefined;
}

const OPENING = ['created', 'snapshot', 'updated'];

/** Something may yet be merged into this one. */
export function isOpen(event: ChangeEvent): boolean {
  return OPENING.includes(verbOf(event));
}

/** @param events of one record, in order; what belongs together is taken from the front */
export function mergeChanges(
  events: readonly [ChangeEvent, ...ChangeEvent[]],
  { comparisonOf = () => undefined }: MergeOptions = {},
): Merge {
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

function fold(members: readonly [ChangeEvent, ...ChangeEvent[]], comparisonOf: ComparisonOf): ChangeEvent | null {
  const [first] = members;
  const last = members.at(-1) ?? first;
  const isUpdate = verbOf(first) === 'updated' && verbOf(last) === 'updated';
  const changes = isUpdate ? foldChanges(members, comparisonOf) : [];
  if (isUpdate && changes.length === 0 && members.every(({ data }) => data.changes.length > 0)) return null;
  const ids = members.map(({ id }) => id);
  return {
    ...last,
    id: mergedEventId(ids),
    type: verbOf(last) === 'deleted' ? last.type : first.type,
    data: {
      ...last.data,
      ...(first.data.reappeared && verbOf(last) !== 'deleted' && { reappeared: true }),
      before: beforeOf(first, last),
      changes,
      class: members.some(({ data }) => data.class === 'edited') ? 'edited' : 'refreshed',
      detectedBy: detectedBy(members),
      merged: { ids, firstSequence: first.data.sequence, firstObservedAt: first.data.observedAt },
    },
  };
}

/** A deletion shows what is gone: of a record that was created meanwhile, the last image is all there ever was. */
function beforeOf(first: ChangeEvent, last: ChangeEvent): ChangeData['before'] {
  return verbOf(last) === 'deleted' ? (first.data.before ?? last.data.before) : first.data.before;
}

function foldChanges(
  members: readonly [ChangeEvent, ...ChangeEvent[]],
  comparisonOf: ComparisonOf,
): readonly FieldChange[] {
  const [first] = members;
  const last = members.at(-1) ?? first;
  const list = listOf(last);
  const [before, after] = [first.data.before, last.data.after];
  // Without images it is not known what a field was: all that are named stay.
  const haveImages = members.every(({ data }) => data.before !== null);
  if (list === undefined || before === null || after === null || !haveImages) return namedChanges(members);
  const rules = comparisonOf(workspaceOf(last), list) ?? { list, nullIsAbsent: true, compares: () => true };
  // Not what the rules compare today: a field that an event has named stays, one that a change of the schema moved does not come in.
  const named = namedFields(members, rules);
  const compared = { ...rules, compares: (field: string) => named.has(field) };
  return diffFields(readFields(before, compared), readFields(after, compared));
}

function namedChanges(members: readonly ChangeEvent[]): FieldChange[] {
  const folded = new Map<string, FieldChange>();
  for (const change of members.flatMap(({ data }) => data.changes)) {
    const known = folded.get(change.field);
    folded.set(change.field, known === undefined ? change : { ...change, before: known.before });
  }
  return [...folded.values()].toSorted((a, b) => (a.field < b.field ? -1 : 1));
}

/**
 * The canonical names of the fields that events name. An event spells a field as its record does, and one spelling may stand
 * for two fields where a record has both: then values and rules tell which is meant.
 */
function namedFields(members: readonly ChangeEvent[], rules: Comparison): ReadonlySet<string> {
  const everything = { ...rules, compares: () => true };
  const fieldsOf = (image: CrmRecord | null): CanonicalFields => readFields(image ?? {}, everything);
  const named = members.flatMap(({ data: { before, after, changes } }) => {
    const differing = [...changesByName(fieldsOf(before), fieldsOf(after))];
    return changes.flatMap((change) => {
      const meant = differing.filter(([, other]) => isSameChange(change, other)).map(([name]) => name);
      const compared = meant.filter((name) => rules.compares(name));
      return compared.length > 0 ? compared : meant;
    });
  });
  return new Set(named);
}

function isSameChange(one: FieldChange, other: FieldChange): boolean {
  return (
    one.field === other.field &&
    meaningOf(one.before) === meaningOf(other.before) &&
    meaningOf(one.after) === meaningOf(other.after)
  );
}

function detectedBy(members: readonly ChangeEvent[]): ChangeData['detectedBy'] {
  const ways = new Set(members.map(({ data }) => data.detectedBy));
  const [only] = ways;
  return only !== undefined && ways.size === 1 ? only : 'both';
}

function verbOf({ type }: ChangeEvent): string {
  return type.slice(type.lastIndexOf('.') + 1);
}
