/**
 * Which pages hold the records that were named: first those that have most probably changed (likelihood.ts), most recently named first.
 * Records on one page are fetched together, and no page more than once a second. Holds no I/O.
 */
import { Likelihood } from './likelihood.js';
import type { Aimed } from './store.js';

/** A page is not fetched again before. */
const PAGE_REST_MS = 1_000;
/** A record is not looked up again before, however often it is named. */
const RECORD_REST_MS = 2_000;
const MOST_PENDING = 1_000;
const MOST_SERVED = 4_096;
/** Of records whose probability differs by less, the one that was named last comes first. */
const STEP = 0.25;
/** A record below the first step is looked up no more often, so that this is found out when it is no longer true. */
const UNLIKELY_REST_MS = 5_000;
/** The time of a change may be cut to the second. */
const TIME_CUT_MS = 1_000;

export interface AimedPage {
  page: number;
  ids: readonly string[];
  /** How probably one of these records has changed, at most 1. */
  likelihood: number;
}

interface Pending {
  /** When it was named last. */
  atMs: number;
  /** What named it. */
  by: ReadonlySet<string>;
}

export class Aim {
  readonly #likelihood = new Likelihood();
  #unlikelyMs = -Infinity;
  /** In the order of naming, the most recent last. */
  readonly #pending = new Map<string, Pending>();
  /** What named the records of the pages that were requested and have not arrived. */
  readonly #asked = new Map<string, ReadonlySet<string>>();
  /** When a record was looked up last, and a page requested last. The oldest first. */
  readonly #served = new Map<string, number>();
  readonly #fetched = new Map<number, number>();
  /** When a page was requested whose answer came and was used. */
  readonly #shown = new Map<number, number>();

  get pending(): number {
    return this.#pending.size;
  }

  add(named: readonly Aimed[]): void {
    for (const { id, by, atMs } of [...named].sort((one, other) => one.atMs - other.atMs))
      this.#add(id, { atMs, by: new Set([by]) });
    dropOldest(this.#pending, MOST_PENDING);
  }

  /** The pages were counted by another sweep. */
  forgetPages(): void {
    this.#fetched.clear();
    this.#shown.clear();
  }

  /**
   * The page to fetch next, with all pending records on it; null when each must rest. Records without a page are returned apart, and
   * are pending no longer.
   */
  next(nowMs: number, pageOf: (id: string) => number | null): { page: AimedPage | null; unknown: string[] } {
    const unknown: string[] = [];
    const byPage = new Map<number, string[]>();
    let chosen: number | null = null;
    for (const [id, { atMs }] of this.#inOrder(nowMs)) {
      if (nowMs - (this.#served.get(id) ?? -Infinity) < RECORD_REST_MS) continue;
      const page = pageOf(id);
      if (page === null) unknown.push(id);
      // A record whose page was requested after the change that names it has been looked up.
      if (page === null || (this.#shown.get(page) ?? -Infinity) >= atMs + TIME_CUT_MS) {
        this.#pending.delete(id);
        continue;
      }
      const fetchedMs = this.#fetched.get(page) ?? -Infinity;
      const onPage = byPage.get(page);
      if (onPage === undefined) byPage.set(page, [id]);
      else onPage.push(id);
      if (nowMs - fetchedMs >= PAGE_REST_MS) chosen ??= page;
    }
    this.#rest(unknown, nowMs);
    if (chosen === null) return { page: null, unknown };
    const ids = byPage.get(chosen) ?? [];
    return { page: { page: chosen, ids, likelihood: Math.max(...ids.map((id) => this.#likelihoodOf(id))) }, unknown };
  }

  /** The page is requested now. */
  taken({ page, ids, likelihood }: AimedPage, nowMs: number): void {
    if (likelihood < STEP) this.#unlikelyMs = nowMs;
    this.fetched(page, nowMs);
    for (const id of ids) {
      this.#asked.set(id, this.#pending.get(id)?.by ?? new Set());
      this.#pending.delete(id);
    }
    dropOldest(this.#asked, MOST_SERVED);
    this.#rest(ids, nowMs);
  }

  /** The page was requested, and its answer will not be read. */
  again({ page, ids }: Pick<AimedPage, 'page' | 'ids'>, nowMs: number): void {
    this.#fetched.delete(page);
    for (const id of ids) this.#add(id, { atMs: nowMs, by: this.#asked.get(id) ?? new Set() });
    dropOldest(this.#pending, MOST_PENDING);
  }

  /** The page has shown these records. */
  looked(ids: readonly string[], hasChanged: (id: string) => boolean): void {
    for (const id of ids) {
      for (const by of this.#asked.get(id) ?? []) this.#likelihood.looked(by, hasChanged(id));
      this.#asked.delete(id);
    }
  }

  /** The page is requested, for whatever reason. */
  fetched(page: number, nowMs: number): void {
    setLast(this.#fetched, page, nowMs);
  }

  /** The page was requested then, and has shown its records. */
  shown(page: number, askedAtMs: number): void {
    setLast(this.#shown, page, askedAtMs);
  }

  #add(id: string, { atMs, by }: Pending): void {
    const before = this.#pending.get(id);
    this.#pending.delete(id);
    this.#pending.set(id, {
      atMs: Math.max(atMs, before?.atMs ?? 0),
      by: before === undefined ? by : new Set([...before.by, ...by]),
    });
  }

  /** Of those that have probably not changed, one is first from time to time, and the others wait. */
  #inOrder(nowMs: number): [string, Pending][] {
    const lastFirst = [...this.#pending].reverse();
    const steps = new Map(lastFirst.map(([id]) => [id, Math.floor(this.#likelihoodOf(id) / STEP)]));
    const stepOf = ([id]: [string, Pending]): number => steps.get(id) ?? 0;
    const likely = lastFirst.filter((one) => stepOf(one) > 0).sort((one, other) => stepOf(other) - stepOf(one));
    const unlikely = nowMs - this.#unlikelyMs < UNLIKELY_REST_MS ? [] : lastFirst.filter((one) => stepOf(one) === 0);
    return [...unlikely, ...likely];
  }

  #likelihoodOf(id: string): number {
    return Math.max(0, ...[...(this.#pending.get(id)?.by ?? [])].map((by) => this.#likelihood.of(by)));
  }

  #rest(ids: readonly string[], nowMs: number): void {
    for (const id of ids) {
      this.#served.delete(id);
      this.#served.set(id, nowMs);
    }
    dropOldest(this.#served, MOST_SERVED);
  }
}

function setLast(map: Map<number, number>, key: number, value: number): void {
  map.delete(key);
  map.set(key, value);
  dropOldest(map, MOST_SERVED);
}

function dropOldest<Key>(map: Map<Key, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
