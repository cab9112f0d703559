/**
 * Which pages hold the records that were named, most recently named first. Records on one page are fetched together, and no page
 * more than once a second. Holds no I/O.
 */
import type { Aimed } from './store.js';

/** A page is not fetched again before. */
const PAGE_REST_MS = 1_000;
/** A record is not looked up again before, however often it is named. */
const RECORD_REST_MS = 2_000;
const MOST_PENDING = 1_000;
const MOST_SERVED = 4_096;

export interface AimedPage {
  page: number;
  ids: readonly string[];
}

export class Aim {
  /** In the order of naming, the most recent last. */
  readonly #pending = new Map<string, number>();
  /** When a record was looked up last, and a page requested last. The oldest first. */
  readonly #served = new Map<string, number>();
  readonly #fetched = new Map<number, number>();

  get pending(): number {
    return this.#pending.size;
  }

  add(named: readonly Aimed[]): void {
    for (const { id, atMs } of [...named].sort((one, other) => one.atMs - other.atMs)) {
      const latest = Math.max(atMs, this.#pending.get(id) ?? 0);
      this.#pending.delete(id);
      this.#pending.set(id, latest);
    }
    dropOldest(this.#pending, MOST_PENDING);
  }

  /** The pages were counted by another sweep. */
  forgetPages(): void {
    this.#fetched.clear();
  }

  /**
   * The page to fetch next, with all pending records on it; null when each must rest. Records without a page are returned apart, and
   * are pending no longer.
   */
  next(nowMs: number, pageOf: (id: string) => number | null): { page: AimedPage | null; unknown: string[] } {
    const unknown: string[] = [];
    const byPage = new Map<number, string[]>();
    let chosen: number | null = null;
    for (const [id, atMs] of [...this.#pending].reverse()) {
      if (nowMs - (this.#served.get(id) ?? -Infinity) < RECORD_REST_MS) continue;
      const page = pageOf(id);
      const fetchedMs = page === null ? -Infinity : (this.#fetched.get(page) ?? -Infinity);
      // A record that was named before its page was requested last has been looked up.
      if (page === null || fetchedMs >= atMs) this.#pending.delete(id);
      if (page === null) unknown.push(id);
      if (page === null || fetchedMs >= atMs) continue;
      byPage.set(page, [...(byPage.get(page) ?? []), id]);
      if (nowMs - fetchedMs >= PAGE_REST_MS) chosen ??= page;
    }
    this.#rest(unknown, nowMs);
    return { page: chosen === null ? null : { page: chosen, ids: byPage.get(chosen) ?? [] }, unknown };
  }

  /** The page is requested now. */
  taken({ page, ids }: AimedPage, nowMs: number): void {
    this.fetched(page, nowMs);
    for (const id of ids) this.#pending.delete(id);
    this.#rest(ids, nowMs);
  }

  /** The page was requested, and its answer will not be read. */
  again({ page, ids }: AimedPage, nowMs: number): void {
    this.#fetched.delete(page);
    this.add(ids.map((id) => ({ id, atMs: nowMs })));
  }

  /** The page is requested for another reason. */
  fetched(page: number, nowMs: number): void {
    this.#fetched.delete(page);
    this.#fetched.set(page, nowMs);
    dropOldest(this.#fetched, MOST_SERVED);
  }

  #rest(ids: readonly string[], nowMs: number): void {
    for (const id of ids) {
      this.#served.delete(id);
      this.#served.set(id, nowMs);
    }
    dropOldest(this.#served, MOST_SERVED);
  }
}

function dropOldest<Key>(map: Map<Key, number>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
