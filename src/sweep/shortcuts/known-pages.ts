/**
 * Builds the index of where each record stood in the last complete sweep, in steps: a large list would keep the walk waiting. The index of
 * the sweep before is used meanwhile, and a page that no longer has the record costs trust.
 */
import type { ListName } from '../../crm/lists/lists.js';
import type { SweepSummary } from '../store.js';
import { PageIndex } from './page-index.js';
import type { ShortcutStore } from './store.js';

/** Pages added by one step: one read of Redis, and about 10 ms for full pages of 50 records. */
const INDEXED_AT_ONCE = 200;

export class KnownPages {
  readonly #deps: { list: ListName; store: Pick<ShortcutStore, 'membersOf'> };
  #pages: PageIndex | null = null;
  /** The sweep that `#pages` is of. */
  #sweepId: string | null = null;
  #making: { index: PageIndex; sweepId: string; nextPage: number } | null = null;

  constructor(deps: { list: ListName; store: Pick<ShortcutStore, 'membersOf'> }) {
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
