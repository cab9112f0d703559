/**
 * Receivers that do what docs/delivery.md says: the highest sequence of a record wins, and at `changefeed.snapshot.complete` what they have of the list
 * with a lower sequence is gone. They note what was false when it was sent.
 */
import { listOf } from '../../src/events/envelope.js';
import { SNAPSHOT_COMPLETE } from '../../src/events/notices.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import { isOfRecord } from '../support/receiver.js';
import { contentOf, keyOf, type CopyCrm, type Row } from './crm.js';
import type { CopyList } from './history.js';

interface Held {
  list: CopyList;
  id: string;
  sequence: number;
  /** Null: it is gone. */
  record: Row | null;
}

/** By list and id, what a receiver has. */
export type Copy = Record<CopyList, Map<string, string>>;

export class Receiver {
  readonly refused = new Set<string>();
  readonly wrong: string[] = [];
  /** Snapshot events of records that the CRM did not have: the feed may not know that yet. */
  readonly shownAbsent: { list: CopyList; id: string; at: string }[] = [];
  /** Lists that were complete at the end of a snapshot, with how often. */
  readonly completes: CopyList[] = [];
  readonly #crm: CopyCrm;
  readonly #rows = new Map<string, Held>();
  /** Null: Redis went back. */
  readonly #delivered: (ChangeEvent | null)[] = [];
  readonly #died = new Set<string>();

  constructor(
    readonly name: string,
    crm: CopyCrm,
  ) {
    this.#crm = crm;
  }

  readonly handle = (event: ChangeEvent): Promise<void> => {
    const list = listOf(event) as CopyList | undefined;
    if (event.type === SNAPSHOT_COMPLETE) this.#complete(event);
    else if (list !== undefined && isOfRecord(event)) this.#apply(list, event);
    return Promise.resolve();
  };

  copy(): Copy {
    const of = (list: CopyList): Map<string, string> => {
      const rows = [...this.#rows.values()].filter((row) => row.list === list);
      return new Map(rows.flatMap(({ id, record }) => (record === null ? [] : [[id, contentOf(record)]])));
    };
    return { people: of('people'), todo: of('todo') };
  }

  /** What waited at the time to which it goes back is sent, whatever has been sent since. */
  wentBack(): void {
    this.#delivered.push(null);
  }

  /**
   * Of one record, sequences do not step back, and one is of one content. A retried dead letter runs after those that waited. Where Redis went
   * back, only the copy is judged.
   */
  outOfOrder(): string[] {
    const newest = new Map<string, ChangeEvent>();
    const handled = new Set<string>();
    const found: string[] = [];
    for (const event of this.#delivered) {
      if (event === null) {
        newest.clear();
        continue;
      }
      const { id, source, type, subject, data } = event;
      const record = `${source} ${type.split('.')[1] ?? ''} ${subject}`;
      const before = newest.get(record);
      const isNew = !handled.has(id) && !this.#died.has(id);
      const isBack = before !== undefined && before.data.sequence > data.sequence;
      const isOther = before?.data.sequence === data.sequence && textOf(before) !== textOf(event);
      if (isNew && (isBack || isOther))
        found.push(`${type} ${subject}: ${data.sequence} after ${before.data.sequence}`);
      handled.add(id);
      if (!isBack) newest.set(record, event);
    }
    return found;
  }

  #apply(list: CopyList, event: ChangeEvent): void {
    const { id, subject, data } = event;
    const key = keyOf(list, subject);
    if (this.refused.has(key)) {
      this.#died.add(id);
      throw new PermanentError('refused');
    }
    this.#delivered.push(event);
    const record = data.after;
    if (record !== null && this.#crm.shownAt(list, record) === undefined)
      this.wrong.push(`${event.type} ${key} says what the API has never shown`);
    if (event.type.endsWith('.snapshot') && this.#crm.wasAbsentSince(list, subject, this.#crm.tick + 1))
      this.shownAbsent.push({ list, id: subject, at: data.observedAt });
    const before = this.#rows.get(key);
    if (before !== undefined && before.sequence > data.sequence) return;
    this.#rows.set(key, { list, id: subject, sequence: data.sequence, record });
  }

  #complete({ data: { notice, sequence } }: ChangeEvent): void {
    const list = notice?.list as CopyList;
    this.completes.push(list);
    const ended = [...this.#rows.values()].filter((row) => row.list === list && row.sequence < sequence);
    const wereThere = ended.filter(
      ({ id, record }) =>
        record !== null &&
        !this.#crm.erased.has(keyOf(list, id)) &&
        !this.#crm.wasAbsentSince(list, id, this.#crm.shownAt(list, record) ?? 0),
    );
    const ids = wereThere.map(({ id }) => id);
    if (ids.length > 0) this.wrong.push(`snapshot.complete drops ${countOf(ids)} of ${list} that were never absent`);
    for (const row of ended) Object.assign(row, { record: null, sequence });
  }
}

const textOf = ({ data: { after } }: ChangeEvent): string => (after === null ? '' : contentOf(after));

/** With some examples. */
export function countOf(ids: readonly string[]): string {
  return `${ids.length} (${ids.slice(0, 3).join(', ')})`;
}
