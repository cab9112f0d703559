/** Named records that wait to be looked up. One that a page has shown since the naming change does not. Pure. */
import { RecentMap } from './recent-map.js';
import type { Aimed } from '../aim-queue.js';

/** The time of a change may be cut to the second, and the clock of the API differs from ours. */
const TIME_CUT_MS = 1_000;
const CLOCKS_APART_MS = 250;
const MOST_WAITING = 1_000;

export class WaitingNames {
  /** When each was named last; in the order of naming, the most recent last. */
  readonly #waitingMs = new RecentMap<string, number>(MOST_WAITING);
  /** The same of those on the pages under way. */
  readonly #askedMs = new RecentMap<string, number>();
  /** When a page was requested whose answer came and was used. */
  readonly #shownMs = new RecentMap<number, number>();

  get size(): number {
    return this.#waitingMs.size;
  }

  add({ id, atMs }: Aimed): void {
    this.#waitingMs.set(id, Math.max(atMs, this.#waitingMs.get(id) ?? -Infinity));
  }

  giveBack(): Aimed[] {
    const named = [...this.#waitingMs].map(([id, atMs]) => ({ id, atMs }));
    this.#waitingMs.clear();
    return named;
  }

  /** A complete sweep that began then has shown every record after these changes. Its pages have new numbers. */
  walked(startedMs: number): void {
    for (const [id, atMs] of this.#waitingMs) if (shownFromMs(atMs) <= startedMs) this.#waitingMs.delete(id);
    this.#shownMs.clear();
  }

  /** @param pageOf null for a record that is not known: it is counted, and waits no longer */
  byPage(pageOf: (id: string) => number | null): { byPage: Map<number, string[]>; unknown: number } {
    const byPage = new Map<number, string[]>();
    let unknown = 0;
    for (const [id, atMs] of this.#waitingMs) {
      const page = pageOf(id);
      if (page === null) unknown += 1;
      // A record whose page was requested after the change that names it has been looked up.
      if (page === null || (this.#shownMs.get(page) ?? -Infinity) >= shownFromMs(atMs)) this.#waitingMs.delete(id);
      else byPage.set(page, [...(byPage.get(page) ?? []), id]);
    }
    return { byPage, unknown };
  }

  taken(ids: readonly string[]): void {
    for (const id of ids) {
      const atMs = this.#waitingMs.get(id);
      if (atMs !== undefined) this.#askedMs.set(id, atMs);
      this.#waitingMs.delete(id);
    }
  }

  again(ids: readonly string[]): void {
    for (const id of ids) this.add({ id, atMs: this.#askedMs.get(id) ?? -Infinity });
  }

  /** Their page was read. */
  lookedUp(page: number, ids: readonly string[], askedAtMs: number): void {
    this.#shownMs.set(page, askedAtMs);
    for (const id of ids) this.#askedMs.delete(id);
  }
}

/** A request that is sent from then on shows the change. */
function shownFromMs(atMs: number): number {
  return atMs + (atMs % 1_000 === 0 ? TIME_CUT_MS : CLOCKS_APART_MS);
}
