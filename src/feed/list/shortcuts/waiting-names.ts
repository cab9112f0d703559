/** Named records that wait to be looked up. One that a page has shown since the naming change does not. Pure. */
import { RecentMap } from './recent-map.js';
import type { Aimed } from '../aim-queue.js';

export interface WaitingName {
  /** When it was named last. */
  atMs: number;
  by: ReadonlySet<string>;
}

interface LookedUp {
  page: number;
  ids: readonly string[];
  shown: { keys: readonly string[]; created: readonly string[]; rewritten: readonly string[]; left: number };
  askedAtMs: number;
}

/** The time of a change may be cut to the second, and the clock of the API differs from ours. */
const TIME_CUT_MS = 1_000;
const CLOCKS_APART_MS = 250;
const MOST_WAITING = 1_000;

export class WaitingNames {
  /** In the order of naming, the most recent last. */
  readonly #waiting = new RecentMap<string, WaitingName>(MOST_WAITING);
  /** Those on the pages under way. */
  readonly #asked = new RecentMap<string, WaitingName>();
  /** When a page was requested whose answer came and was used. */
  readonly #shownMs = new RecentMap<number, number>();

  get size(): number {
    return this.#waiting.size;
  }

  add(id: string, { atMs, by }: WaitingName): void {
    const before = this.#waiting.get(id);
    this.#waiting.set(id, {
      atMs: Math.max(atMs, before?.atMs ?? -Infinity),
      by: new Set([...(before?.by ?? []), ...by]),
    });
  }

  of(ids: readonly string[]): WaitingName[] {
    return ids.flatMap((id) => this.#waiting.get(id) ?? []);
  }

  giveBack(): Aimed[] {
    const named = [...this.#waiting].flatMap(([id, { by, atMs }]) => [...by].map((one) => ({ id, by: one, atMs })));
    this.#waiting.clear();
    return named;
  }

  /** A complete sweep that began then has shown every record after these changes. Its pages have new numbers. */
  walked(startedMs: number): void {
    for (const [id, { atMs }] of this.#waiting) if (shownFromMs(atMs) <= startedMs) this.#waiting.delete(id);
    this.#shownMs.clear();
  }

  /** @param pageOf null for a record that is not known: it is counted, and waits no longer */
  byPage(pageOf: (id: string) => number | null): { byPage: Map<number, string[]>; unknown: number } {
    const byPage = new Map<number, string[]>();
    let unknown = 0;
    for (const [id, { atMs }] of this.#waiting) {
      const page = pageOf(id);
      if (page === null) unknown += 1;
      // A record whose page was requested after the change that names it has been looked up.
      if (page === null || (this.#shownMs.get(page) ?? -Infinity) >= shownFromMs(atMs)) this.#waiting.delete(id);
      else byPage.set(page, [...(byPage.get(page) ?? []), id]);
    }
    return { byPage, unknown };
  }

  taken(ids: readonly string[]): void {
    for (const id of ids) {
      const name = this.#waiting.get(id);
      if (name !== undefined) this.#asked.set(id, name);
      this.#waiting.delete(id);
    }
  }

  again(ids: readonly string[]): void {
    for (const id of ids) this.add(id, this.#asked.get(id) ?? { atMs: -Infinity, by: new Set() });
  }

  /** Their page was read. @returns what is known now of whether the names were right */
  lookedUp({ page, ids, shown: { keys, created, rewritten, left }, askedAtMs }: LookedUp): {
    by: ReadonlySet<string>;
    hadChanged: boolean;
  }[] {
    this.#shownMs.set(page, askedAtMs);
    const shown = new Set(keys);
    const written = new Set([...created, ...rewritten]);
    return ids.flatMap((id) => {
      const name = this.#asked.get(id);
      this.#asked.delete(id);
      // Which of the others were left to the walk is not known, so they say nothing.
      const isKnown = shown.has(id) && (left === 0 || written.has(id));
      return isKnown && name !== undefined ? [{ by: name.by, hadChanged: written.has(id) }] : [];
    });
  }
}

/** A request that is sent from then on shows the change. */
function shownFromMs(atMs: number): number {
  return atMs + (atMs % 1_000 === 0 ? TIME_CUT_MS : CLOCKS_APART_MS);
}
