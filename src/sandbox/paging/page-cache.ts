/**
 * Serialised pages of the live world, kept as long as every record on them is what it was: serving a still list costs
 * no more than sending bytes. Bounded by bytes; the page unused for longest goes first.
 */
import type { SandboxListName } from '../world/lists.js';
import { pageTail, type NextCursor } from '../../server/read-api/envelope.js';

export interface RowVersion {
  readonly index: number;
  readonly version: number;
}

interface Entry {
  readonly rows: readonly RowVersion[];
  /** The whole body, with the tail it had last. */
  whole: Buffer;
  /** Where the tail begins: everything before it depends on the records alone. */
  readonly headBytes: number;
  tail: string;
  /** Up to this version of the list the entry is known to hold. */
  checkedAt: number;
}

export interface KeptPage {
  readonly body: Buffer;
  readonly rows: readonly RowVersion[];
}

export interface PageKey {
  readonly list: SandboxListName;
  /** All that decides what the page looks like besides its records. */
  readonly form: string;
  readonly listVersion: number;
  readonly indexes: readonly number[];
  readonly versionOf: (index: number) => number;
  readonly nextCursor: NextCursor;
}

export class PageCache {
  readonly #pages = new Map<string, Entry>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The page as kept, or as `draw` makes it. */
  page(key: PageKey, draw: (rows: readonly RowVersion[]) => Buffer): KeptPage {
    // The first row and the count name the page; which rows follow is checked against the list.
    const name = `${key.list}:${key.form}:${key.indexes[0] ?? -1}:${key.indexes.length}`;
    const tail = pageTail(key.nextCursor);
    const kept = this.#pages.get(name);
    if (kept !== undefined && this.#holds(kept, key)) {
      this.#pages.delete(name);
      this.#pages.set(name, kept);
      if (kept.tail !== tail) retail(kept, tail);
      return { body: kept.whole, rows: kept.rows };
    }
    const rows = key.indexes.map((index) => ({ index, version: key.versionOf(index) }));
    const head = draw(rows);
    const entry: Entry = {
      rows,
      headBytes: head.length,
      tail,
      whole: Buffer.concat([head, Buffer.from(tail)]),
      checkedAt: key.listVersion,
    };
    this.#keep(name, entry);
    return { body: entry.whole, rows };
  }

  #holds(entry: Entry, { indexes, listVersion, versionOf }: PageKey): boolean {
    if (entry.checkedAt === listVersion) return true;
    const same = entry.rows.every(({ index, version }, nth) => indexes[nth] === index && versionOf(index) === version);
    if (same) entry.checkedAt = listVersion;
    return same;
  }

  #keep(name: string, entry: Entry): void {
    const before = this.#pages.get(name);
    if (before !== undefined) this.#bytes -= sizeOf(before);
    this.#pages.delete(name);
    this.#pages.set(name, entry);
    this.#bytes += sizeOf(entry);
    for (const [oldest, entryOfOldest] of this.#pages) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#pages.delete(oldest);
      this.#bytes -= sizeOf(entryOfOldest);
    }
  }
}

const sizeOf = ({ headBytes }: Entry): number => headBytes;

function retail(entry: Entry, tail: string): void {
  entry.whole = Buffer.concat([entry.whole.subarray(0, entry.headBytes), Buffer.from(tail)]);
  entry.tail = tail;
}
