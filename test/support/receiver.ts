/** What receivers of events know in the end, compared with what the lists show. */
import stringify from 'fast-json-stable-stringify';
import { LIST_NAMES, type BuiltInList } from '../../src/crm/lists/lists.js';
import { listOf } from '../../src/events/envelope.js';
import { SNAPSHOT_COMPLETE } from '../../src/events/notices.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { differences, type Shown } from './api-state.js';

/** By list and id, the last event. */
export type Copies = Record<BuiltInList, Map<string, ChangeEvent>>;

/** It says what a record is, or that it is gone. */
export function isOfRecord({ type }: ChangeEvent): boolean {
  return /^crm\..*\.(created|updated|deleted|snapshot)$/.test(type);
}

/** What two receivers have: `arrival` applies each event when it comes, `highest` those with a higher sequence than it has. */
export function foldsOf(events: readonly ChangeEvent[]): Record<'arrival' | 'highest', Copies> {
  const [arrival, highest] = [noCopies(), noCopies()];
  for (const event of events) {
    const { sequence, notice } = event.data;
    if (event.type === SNAPSHOT_COMPLETE) {
      const list = notice?.list as BuiltInList;
      // What has a lower sequence is not in the list.
      for (const { [list]: copies } of [arrival, highest])
        for (const [id, copy] of copies) if (copy.data.sequence < sequence) copies.delete(id);
      continue;
    }
    const list = listOf(event) as BuiltInList | undefined;
    if (list === undefined || !isOfRecord(event)) continue;
    arrival[list].set(event.subject, event);
    const before = highest[list].get(event.subject);
    if (before === undefined || sequence > before.data.sequence) highest[list].set(event.subject, event);
  }
  return { arrival, highest };
}

/** @param before what the receiver knew before its first event @defaultValue nothing */
export function recordsIn(copies: Copies, before?: Shown): Shown {
  return byList((list) => {
    const records = new Map<string, object>(before?.[list]);
    for (const [id, { data }] of copies[list])
      if (data.after === null) records.delete(id);
      else records.set(id, data.after);
    return records;
  }) as Shown;
}

/** Records that a receiver knows wrongly, or not at all, with what is wrong. */
export function wrongIn(known: Shown, shown: Shown): string[] {
  return differences(inOneOrder(known), inOneOrder(shown)).map(({ list, id, fields, before, after }) => {
    const what = before === null ? 'unknown' : after === null ? 'a ghost' : fields.join(', ');
    return `${list} ${id}: ${what}`;
  });
}

/** New events whose sequence is not above those of the record that were delivered before. */
export function outOfOrderIn(events: readonly ChangeEvent[]): string[] {
  const last = new Map<string, number>();
  const ids = new Set<string>();
  const found = new Set<string>();
  for (const { id, type, subject, data } of events.filter(isOfRecord)) {
    const key = `${type.split('.')[1] ?? ''} ${subject}`;
    const highest = last.get(key) ?? -1;
    // A snapshot shows the state after the last change, and has its sequence.
    const least = highest + (type.endsWith('.snapshot') ? 0 : 1);
    if (!ids.has(id) && data.sequence < least) found.add(`${type} ${key} ${data.sequence} after ${highest}`);
    ids.add(id);
    last.set(key, Math.max(highest, data.sequence));
  }
  return [...found];
}

/** `jsonb` has another order of keys. */
function inOneOrder(shown: Shown): Shown {
  return byList((list) => {
    const records = [...shown[list]].map(([id, record]) => [id, JSON.parse(stringify(record)) as object] as const);
    return new Map(records);
  }) as Shown;
}

function noCopies(): Copies {
  return byList(() => new Map<string, ChangeEvent>());
}

function byList<T>(of: (list: BuiltInList) => T): Record<BuiltInList, T> {
  return Object.fromEntries(LIST_NAMES.map((list) => [list, of(list)])) as Record<BuiltInList, T>;
}
