/** What would have to be set back to undo the changes of a period, field by field, and what was changed again since. Writes nothing. */
import { meaningOf } from '../../crm/canonical.js';
import type { UncheckedRecord } from '../../crm/record.js';
import type { Rules } from '../detect/rules.js';
import { undone } from '../detect/undo.js';
import { titleOfRecord } from '../../events/describe.js';
import type { Actor, FieldChange } from '../../events/types.js';
import type { SweepStore } from '../store/sweep-store.js';
import { everyRecordPast } from './as-of.js';
import { changeOf, type HistoryChange } from './record-history.js';

/** Something to set back. */
export interface RestoreStep {
  list: string;
  id: string;
  /** What the record is called; null where it says nothing. */
  title: string | null;
  /** `set` a field, `remove` a record that came in the period, `create` one that went. */
  act: 'set' | 'remove' | 'create';
  /** Null where the whole record is meant. */
  field: string | null;
  /** The value before the period; with `create` the whole record. */
  to: unknown;
  /** What the period left. */
  from: unknown;
  /** What it is now. */
  now: unknown;
  /** Who made the change, where that is known. */
  by: Actor | null;
  /** ISO 8601: when the first of the changes was observed. */
  at: string;
  /** Set by others, or later: the last time. Null: not since. */
  changedAgain: { at: string; by: Actor | null } | null;
}

export interface RestoreCall {
  rules: Rules;
  /** The period, ms since the epoch; both ends belong to it. */
  fromMs: number;
  toMs: number;
  /** Whose changes are set back. @defaultValue all */
  isBy?: (actor: Actor | null) => boolean;
}

/** @throws ChangefeedError CF_USAGE where the history does not reach back so far */
export async function* restorePlan(store: SweepStore, call: RestoreCall): AsyncGenerator<RestoreStep, void, undefined> {
  const { rules, fromMs, toMs, isBy = () => true } = call;
  for await (const { key, record, pasts } of everyRecordPast(store, { list: rules.list.name, atMs: fromMs - 1 })) {
    const changes: SidedChange[] = [];
    let after = record;
    for await (const past of pasts) {
      const before = undone(after, past.undo);
      const change = changeOf(past, { before, after, rules });
      const isOfPeriod = Date.parse(past.at) <= toMs && change.event !== null;
      const isMeant = (field?: string): boolean => isOfPeriod && isBy(actorOf(change, field));
      changes.push({ change, before, after, isMeant });
      after = before;
    }
    changes.reverse();
    yield* stepsOf({ list: rules.list.name, id: key, record }, changes);
  }
}

interface SidedChange {
  change: HistoryChange;
  before: UncheckedRecord | null;
  after: UncheckedRecord | null;
  /** Whether the change, or that of a field, is of the period, and by whom it is asked for. */
  isMeant: (field?: string) => boolean;
}

interface Of {
  list: string;
  id: string;
  record: UncheckedRecord | null;
}

/** @param changes oldest first */
function* stepsOf(of: Of, changes: readonly SidedChange[]): Generator<RestoreStep> {
  const whole = changes.filter(({ before, after }) => (before === null) !== (after === null));
  const first = whole.find((one) => one.isMeant());
  if (first !== undefined) yield* stepOfRecord(of, first, whole);
  else if (of.record !== null) yield* stepsOfFields(of, of.record, changes);
}

function* stepOfRecord(of: Of, first: SidedChange, whole: readonly SidedChange[]): Generator<RestoreStep> {
  const { before, after, change } = first;
  const { list, id, record: now } = of;
  // It was in the list before and is now, or neither.
  if ((before === null) === (now === null)) return;
  const again = whole.findLast((one) => !one.isMeant() && one.change.sequence > change.sequence);
  const act = before === null ? 'remove' : 'create';
  const title = titleOfRecord(now ?? before ?? {});
  const made = { by: change.actor, at: change.observedAt, changedAgain: againOf(again) };
  yield { list, id, title, act, field: null, to: before, from: after, now, ...made };
}

function* stepsOfFields(
  { list, id }: Of,
  record: UncheckedRecord,
  changes: readonly SidedChange[],
): Generator<RestoreStep> {
  const title = titleOfRecord(record);
  const fields = new Set(changes.flatMap(({ change }) => change.changes.map(({ field }) => field)));
  for (const field of fields) {
    const own = changes.filter(({ change }) => fieldIn(change, field) !== undefined);
    const begin = own.findIndex((one) => one.isMeant(field));
    const [first, last] = [own[begin], own.findLast((one) => one.isMeant(field))];
    if (first === undefined || last === undefined) continue;
    const [to, now] = [fieldIn(first.change, field)?.before ?? null, record[field] ?? null];
    if (meaningOf(to) === meaningOf(now)) continue;
    const again = own.findLast((one, at) => at > begin && !one.isMeant(field));
    const from = fieldIn(last.change, field)?.after ?? null;
    const made = { by: actorOf(first.change, field), at: first.change.observedAt, changedAgain: againOf(again, field) };
    yield { list, id, title, act: 'set', field, to, from, now, ...made };
  }
}

function fieldIn({ changes }: HistoryChange, field: string | undefined): FieldChange | undefined {
  return changes.find((one) => one.field === field);
}

function actorOf(change: HistoryChange, field: string | undefined): Actor | null {
  return fieldIn(change, field)?.actor ?? change.actor;
}

function againOf(one: SidedChange | undefined, field?: string): RestoreStep['changedAgain'] {
  return one === undefined ? null : { at: one.change.observedAt, by: actorOf(one.change, field) };
}
