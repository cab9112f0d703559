/**
 * Changes of one record told as one, for subscriptions with `settle`. Pure.
 *
 *   created, updated …          created, with the last image
 *   updated, updated …          updated, from the first `before` to the last `after`; fields that are again what they were drop out
 *   anything, then deleted      deleted; what comes after it is another life of the record, and another merge
 *   derived and schema events   are merged into nothing and nothing into them: they tell of a moment, not of a state
 */
import stableStringify from 'fast-json-stable-stringify';
import { mergedEventId } from '../events/envelope.js';
import type { ChangeData, ChangeEvent, FieldChange } from '../events/types.js';

export interface Merge {
  /** How many of the events belong to it, from the first on. */
  taken: number;
  /** Null when nothing is left of them: every field is again what it was. */
  event: ChangeEvent | null;
}

const OPENING = ['created', 'snapshot', 'updated'];

/** Something may yet be merged into this one. */
export function isOpen(event: ChangeEvent): boolean {
  return OPENING.includes(verbOf(event));
}

/** @param events of one record, in order; what belongs together is taken from the front */
export function mergeChanges(events: readonly [ChangeEvent, ...ChangeEvent[]]): Merge {
  const [first, ...rest] = events;
  const members: [ChangeEvent, ...ChangeEvent[]] = [first];
  for (const event of rest) {
    if (!belongsTo(event, members.at(-1) ?? first)) break;
    members.push(event);
  }
  return { taken: members.length, event: members.length === 1 ? first : fold(members) };
}

function belongsTo(event: ChangeEvent, ahead: ChangeEvent): boolean {
  const sameRecord = event.source === ahead.source && event.subject === ahead.subject;
  return sameRecord && isOpen(ahead) && ['updated', 'deleted'].includes(verbOf(event));
}

function fold(members: readonly [ChangeEvent, ...ChangeEvent[]]): ChangeEvent | null {
  const [first] = members;
  const last = members.at(-1) ?? first;
  const isUpdate = verbOf(first) === 'updated' && verbOf(last) === 'updated';
  const changes = isUpdate ? foldChanges(members) : [];
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

function foldChanges(members: readonly ChangeEvent[]): FieldChange[] {
  const folded = new Map<string, FieldChange>();
  for (const change of members.flatMap(({ data }) => data.changes)) {
    const { field } = change;
    const known = folded.get(field);
    folded.set(field, known === undefined ? change : { ...change, before: known.before });
  }
  // Without images nobody knows what a field was: it is named, and cannot be said to be again what it was.
  const knowsOld = members.every(({ data }) => data.before !== null);
  return [...folded.values()]
    .filter(({ before, after }) => !knowsOld || textOf(before) !== textOf(after))
    .toSorted((a, b) => (a.field < b.field ? -1 : 1));
}

/** Equal for what detection takes for equal: null, absent and an empty list; references in any order. */
function textOf(value: unknown): string {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return 'null';
  if (!Array.isArray(value)) return stableStringify(value);
  const texts = value.map((one: unknown) => stableStringify(one));
  return stableStringify(value.every(isReference) ? texts.toSorted() : texts);
}

function isReference(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'id' in value;
}

function detectedBy(members: readonly ChangeEvent[]): ChangeData['detectedBy'] {
  const ways = new Set(members.map(({ data }) => data.detectedBy));
  const [only] = ways;
  return only !== undefined && ways.size === 1 ? only : 'both';
}

function verbOf({ type }: ChangeEvent): string {
  return type.slice(type.lastIndexOf('.') + 1);
}
