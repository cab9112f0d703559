/** Finds the pages of each record in the last complete sweep. Made in steps: large lists would keep the walk waiting. */
import type { ListName } from '../../../crm/lists/lists.js';
import type { SweepSummary } from '../../store/sweep-state.js';
import type { SweepStore } from '../../store/sweep-store.js';

const EMPTY = 0;
/** Above this load, a lookup passes too many filled slots. */
const MOST_FILLED = 0.7;
const FEWEST_SLOTS = 64;

/** Id → page, some 12 bytes per record. Ids are 32-bit hashes; equal ones name a page too many, never too few. */
export class PageIndex {
  #hashes = new Uint32Array(FEWEST_SLOTS);
  /** Page numbers, from 1. */
  #pages = new Uint32Array(FEWEST_SLOTS);
  #size = 0;

  add(id: string, page: number): void {
    if (this.#size + 1 > MOST_FILLED * this.#hashes.length) this.#grow();
    this.#insert(hashOf(id), page);
    this.#size += 1;
  }

  pagesOf(id: string): number[] {
    const hash = hashOf(id);
    const slots = this.#hashes.length;
    const pages: number[] = [];
    for (let at = hash % slots; this.#pages[at] !== EMPTY; at = (at + 1) % slots) {
      const page = this.#pages[at] ?? EMPTY;
      if (this.#hashes[at] === hash && !pages.includes(page)) pages.push(page);
    }
    return pages;
  }

  #insert(hash: number, page: number): void {
    const slots = this.#hashes.length;
    let at = hash % slots;
    while (this.#pages[at] !== EMPTY) at = (at + 1) % slots;
    this.#hashes[at] = hash;
    this.#pages[at] = page;
  }

  #grow(): void {
    const [hashes, pages] = [this.#hashes, this.#pages];
    this.#hashes = new Uint32Array(2 * hashes.length);
    this.#pages = new Uint32Array(2 * pages.length);
    pages.forEach((page, at) => {
      if (page !== EMPTY) this.#insert(hashes[at] ?? 0, page);
    });
  }
}

/** FNV-1a over the UTF-16 units. Ids are not secret, and a chosen collision costs one request. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) {
    hash ^= id.charCodeAt(at);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** Pages added by one step: one read of Redis, and about 10 ms for full pages of 50 records. */
const INDEXED_AT_ONCE = 200;

export class KnownPages {
  readonly #deps: { list: ListName; store: SweepStore };
  #pages: PageIndex | null = null;
  #sweepId: string | null = null;
  #making: { index: PageIndex; sweepId: string; nextPage: number } | null = null;

  constructor(deps: { list: ListName; store: SweepStore }) {
    this.#deps = deps;
  }

  /** Null until the first index is complete. */
  get pages(): PageIndex | null {
    return this.#pages;
  }

  /** Takes one step, unless the index is that of this sweep. */
  async extend(sweep: SweepSummary | null): Promise<void> {
    if (sweep === null || this.#sweepId === sweep.sweepId) return;
    const { sweepId, pages } = sweep;
    if (this.#making?.sweepId !== sweepId) this.#making = { index: new PageIndex(), sweepId, nextPage: 1 };
    const { index, nextPage } = this.#making;
    const numbers = Array.from({ length: Math.min(INDEXED_AT_ONCE, pages - nextPage + 1) }, (_, at) => nextPage + at);
    const members = await this.#deps.store.membersOf(this.#deps.list, numbers);
    numbers.forEach((page, at) => {
      for (const id of members[at] ?? []) index.add(id, page);
    });
    this.#making.nextPage += numbers.length;
    if (this.#making.nextPage <= pages) return;
    this.#pages = index;
    this.#sweepId = sweepId;
    this.#making = null;
  }
}
