/**
 * A cache of serialised pages, valid as long as no record on them changes: serving an unchanged list costs no more than
 * sending bytes. Limited by size; the least recently used page is dropped first.
 */
import type { SandboxListName } from '../world/lists.js';
import { pageTail, type NextCursor } from '../../server/read-api/envelope.js';

export interface RowVersion {
  readonly index: number;
  readonly version: number;
}

interface Entry extends KeptPage {
  readonly tail: string;
  /** The latest version of the list for which the entry is known to be valid. */
  checkedAt: number;
}

interface KeptPage {
  readonly body: Buffer;
  readonly rows: readonly RowVersion[];
}

export interface PageKey {
  readonly list: SandboxListName;
  /** Everything besides its records that the page depends on. */
  readonly form: string;
  readonly listVersion: number;
  readonly indexes: readonly number[];
  readonly versionOf: (index: number) => number;
  readonly nextCursor: NextCursor;
}

const MOST_BYTES = 256 * 1_024 * 1_024;

export class PageCache {
  readonly #pages = new Map<string, Entry>();
  #bytes = 0;

  /** The cached page, or the one that `draw` makes. */
  page(key: PageKey, draw: (rows: readonly RowVersion[]) => Buffer): KeptPage {
    // The first row and the count identify the page. Whether the other rows still match is checked below.
    const name = `${key.list}:${key.form}:${key.indexes[0] ?? -1}:${key.indexes.length}`;
    const tail = pageTail(key.nextCursor);
    const kept = this.#pages.get(name);
    if (kept !== undefined && kept.tail === tail && this.#holds(kept, key)) {
      this.#pages.delete(name);
      this.#pages.set(name, kept);
      return kept;
    }
    const rows = key.indexes.map((index) => ({ index, version: key.versionOf(index) }));
    const entry = { rows, tail, body: Buffer.concat([draw(rows), Buffer.from(tail)]), checkedAt: key.listVersion };
    this.#keep(name, entry);
    return entry;
  }

  #holds(entry: Entry, { indexes, listVersion, versionOf }: PageKey): boolean {
    // Rows that appear late appear without a change of the list.
    const isKnown = entry.checkedAt === listVersion;
    const same = entry.rows.every(
      ({ index, version }, nth) => indexes[nth] === index && (isKnown || versionOf(index) === version),
    );
    if (same) entry.checkedAt = listVersion;
    return same;
  }

  #keep(name: string, entry: Entry): void {
    const before = this.#pages.get(name);
    if (before !== undefined) this.#bytes -= before.body.length;
    this.#pages.delete(name);
    this.#pages.set(name, entry);
    this.#bytes += entry.body.length;
    for (const [oldest, entryOfOldest] of this.#pages) {
      if (this.#bytes <= MOST_BYTES) return;
      this.#pages.delete(oldest);
      this.#bytes -= entryOfOldest.body.length;
    }
  }
}
