/** A minimal detector to test `verify` with. It shares no product code except the equality of `verify`. */
import { createHash } from 'node:crypto';
import type { JudgedEvent } from '../../sandbox/verify/read.js';
import { contentText } from '../../sandbox/verify/equality.js';
import type { ServedList } from '../../src/ops/server/read-api/lists.js';
import { readPage, type Fields, type PageRead, type Target } from './read-api.js';

export interface Flaw {
  losesEvery?: number;
  /** Reports a removal at the first absence, and a new order of keys as a change. */
  hasty?: boolean;
}

/** Walks a list, compares it with the previous walk, and records an event for each difference. */
export class PlainDetector {
  readonly events: JudgedEvent[] = [];
  readonly #known = new Map<string, Map<string, { record: Fields; sequence: number; missing: number }>>();
  readonly #flaw: Flaw;
  #changes = 0;

  constructor(flaw: Flaw = {}) {
    this.#flaw = flaw;
  }

  async sweep(target: Target, list: ServedList): Promise<void> {
    const known = this.#known.get(list.name);
    const next = known ?? new Map<string, { record: Fields; sequence: number; missing: number }>();
    const seen = new Set<string>();
    let cursor: string | null = null;
    do {
      const page: PageRead = await readPage(target, list, cursor);
      for (const record of page.records) {
        seen.add(record.id);
        this.#compare(list, next, record, known === undefined);
      }
      cursor = page.records.length === 0 || page.nextCursor === '' ? null : (page.nextCursor ?? null);
    } while (cursor !== null);
    for (const [id, entry] of next) {
      entry.missing = seen.has(id) ? 0 : entry.missing + 1;
      if (entry.missing < (this.#flaw.hasty === true ? 1 : 2)) continue;
      next.delete(id);
      this.#report(list, 'deleted', id, entry.record, null, entry.sequence + 1);
    }
    this.#known.set(list.name, next);
  }

  #compare(
    list: ServedList,
    known: Map<string, { record: Fields; sequence: number; missing: number }>,
    record: Fields,
    quiet: boolean,
  ): void {
    const before = known.get(record.id);
    const text = (fields: Fields): string | null =>
      this.#flaw.hasty === true
        ? JSON.stringify(fields)
        : contentText(fields, { ignore: new Set(), refNames: 'ignored' });
    if (before !== undefined && text(before.record) === text(record)) return;
    const sequence = (before?.sequence ?? 0) + (quiet ? 0 : 1);
    known.set(record.id, { record, sequence, missing: 0 });
    if (quiet || ++this.#changes % (this.#flaw.losesEvery ?? Infinity) === 0) return;
    this.#report(
      list,
      before === undefined ? 'created' : 'updated',
      record.id,
      before?.record ?? null,
      record,
      sequence,
    );
  }

  #report(
    list: ServedList,
    verb: string,
    subject: string,
    before: Fields | null,
    after: Fields | null,
    sequence: number,
  ): void {
    const observedAt = new Date().toISOString();
    const id = createHash('sha256')
      .update(JSON.stringify([list.name, subject, sequence]))
      .digest('hex');
    this.events.push({
      id,
      type: `crm.${list.object}.${verb}`,
      subject,
      source: '/w',
      data: { before, after, sequence, observedAt },
    });
  }
}
