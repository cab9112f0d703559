/** A list as it was at a time: its records as they are, with what was observed later undone. */
import type { CrmRecord, UncheckedRecord } from '../../crm/record.js';
import { withId } from '../detect/build-event.js';
import { undone } from '../detect/undo.js';
import { isoTime } from '../../kit/clock.js';
import { usage } from '../../kit/errors.js';
import { IdSet } from '../../kit/id-set.js';
import type { RecordPast } from '../store/history.js';
import type { SweepStore } from '../store/sweep-store.js';

interface AsOf {
  list: string;
  /** Ms since the epoch. */
  atMs: number;
}

/**
 * In no order, each record once. Its memory does not grow with the list.
 * @throws ChangefeedError CF_USAGE where the history does not reach back so far, also where it was cut while it was read
 */
export async function* recordsAsOf(
  store: SweepStore,
  { list, atMs }: AsOf,
): AsyncGenerator<CrmRecord, void, undefined> {
  for await (const { key, record, undos } of everyRecordPast(store, { list, atMs })) {
    let was: UncheckedRecord | null = record;
    for await (const step of undos) was = step.reduce(undone, was);
    if (was !== null) yield withId(was, key);
  }
}

/** Every record that is stored, or was, once, with the changes after a time. @throws ChangefeedError CF_USAGE */
export async function* everyRecordPast(
  store: SweepStore,
  { list, atMs }: AsOf,
): AsyncGenerator<RecordPast, void, undefined> {
  const seen = new IdSet();
  for await (const { since, records } of store.everyPast(list, atMs)) {
    if (since === null || since > atMs) throw notKnown(list, since);
    for (const one of records) if (seen.add(one.key)) yield one;
  }
  // Pasts that were trimmed after their step was read are missing: the history then begins later than it did.
  const since = await store.historySince(list);
  if (since === null || Date.parse(since) > atMs) throw notKnown(list, since === null ? null : Date.parse(since));
}

/** The error of a time before the history. */
export function notKnown(list: string, since: number | null): Error {
  if (since !== null)
    return usage(
      `The history of the list "${list}" is known from ${isoTime(since)} on: give that time or a later one.`,
    );
  return usage(
    `Of the list "${list}" no history is known: it begins with the first complete sweep, where \`history\` is not false and the records have contents.`,
  );
}
