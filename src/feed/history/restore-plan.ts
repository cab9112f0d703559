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
  /** Which changes of the period. @defaultValue all */
  isMeant?: (change: HistoryChange) => boolean;
}

/** @throws ChangefeedError CF_USAGE where the history does not reach back so far */
export async function* restorePlan(store: SweepStore, call: RestoreCall): AsyncGenerator<RestoreStep, void, undefined> {
  const { rules, fromMs, toMs, isMeant = () => true } = call;
  for await (const { key, record, pasts } of everyRecordPast(store, { list: rules.list.name, atMs: fromMs - 1 })) {
    const changes: SidedChange[] = [];
    let after = record;
    for await (const past of pasts) {
      const before = undone(after, past.undo);
      const change = changeOf(past, { before, after, rules });
      const ofPeriod = Date.parse(past.at) <= toMs && change.event !== null;
      changes.push({ change, before, after, isMeant: ofPeriod && isMeant(change) });
      after = before;
    }
    changes.reverse();
    if (changes.some((one) => one.isMeant)) yield* stepsOf({ list: rules.list.name, id: key, record }, changes);
  }
}

interface SidedChange {
  change: HistoryChange;
  before: UncheckedRecord | null;
  after: UncheckedRecord | null;
  isMeant: boolean;
}

interface Of {
  list: string;
  id: string;
  record: UncheckedRecord | null;
}

/** @param changes oldest first */
function* stepsOf({ list, id, record }: Of, changes: readonly SidedChange[]): Generator<RestoreStep> {
  const whole = changes.filter(({ before, after }) => (before === null) !== (after === null));
  const [first] = whole.filter((one) => one.isMeant);
  const named = record ?? first?.before ?? first?.after ?? null;
  const of = { list, id, title: named === null ? null : titleOfRecord(named) };
  if (first !== undefined) {
    const { before, change } = first;
    // In the list before and now, or neither: nothing of the record as a whole is to be set back.
    if ((before === null) === (record === null)) return;
    const again = whole.findLast((one) => !one.isMeant && one.change.sequence > change.sequence);
    const act = before === null ? 'remove' : 'create';
    const made = { by: change.actor, at: change.observedAt, changedAgain: againOf(again) };
    yield { ...of, act, field: null, to: before, from: first.after, now: record, ...made };
    return;
  }
  const fields = new Set(changes.flatMap((one) => (one.isMeant ? one.change.changes.map(({ field }) => field) : [])));
  for (const field of record === null ? [] : fields) {
    const own = changes.filter(({ change }) => fieldIn(change, field) !== undefined);
    const [begin, last] = [own.findIndex((one) => one.isMeant), own.findLast((one) => one.isMeant)];
    const begun = own[begin];
    const made = begun && fieldIn(begun.change, field);
    if (begun === undefined || made === undefined) continue;
    const [to, now] = [made.before, record?.[field] ?? null];
    if (meaningOf(to) === meaningOf(now)) continue;
    const again = own.findLast((one, at) => at > begin && !one.isMeant);
    const from = (last && fieldIn(last.change, field)?.after) ?? null;
    const by = made.actor ?? begun.change.actor;
    const facts = { to, from, now, by, at: begun.change.observedAt, changedAgain: againOf(again, field) };
    yield { ...of, act: 'set', field, ...facts };
  }
}

function fieldIn({ changes }: HistoryChange, field: string): FieldChange | undefined {
  return changes.find((one) => one.field === field);
}

function againOf(one: SidedChange | undefined, field = ''): RestoreStep['changedAgain'] {
  if (one === undefined) return null;
  const { change } = one;
  return { at: change.observedAt, by: fieldIn(change, field)?.actor ?? change.actor };
}
