/** The pages of a list that hold open records: how many, and since when they have not been read. Pure. */
import { gathered } from './waiting.js';
import { openWeight, type OpenRecords } from '../../detect/open.js';

interface OpenPage {
  /** How many records that are due now are as likely to change. */
  weight: number;
  readMs: number;
}

export class OpenPages {
  readonly #pages = new Map<number, OpenPage>();

  /** @param read.aheadMs how far the wall clock, by which records are due, is ahead */
  knows(page: number, open: OpenRecords, { readMs: atMs, aheadMs }: { readMs: number; aheadMs: number }): void {
    if (open.length === 0) this.#pages.delete(page);
    else {
      const readMs = Math.max(atMs, this.#pages.get(page)?.readMs ?? atMs);
      this.#pages.set(page, { weight: openWeight(open, readMs + aheadMs), readMs });
    }
  }

  /** The page was asked for then, and its answer was not used. */
  asked(page: number, atMs: number): void {
    const open = this.#pages.get(page);
    if (open !== undefined) open.readMs = atMs;
  }

  keepUpTo(pages: number): void {
    for (const page of this.#pages.keys()) if (page > pages) this.#pages.delete(page);
  }

  /** Seconds that records of the page have been open since it was read, weighted and added up; null when it has none. */
  secondsOf(page: number, nowMs: number): number | null {
    const open = this.#pages.get(page);
    return open === undefined ? null : (open.weight * Math.max(0, nowMs - open.readMs)) / 1_000;
  }

  /** @param rate of changes per second of a record that is due now */
  gatheredOn(page: number, rate: number, nowMs: number): number {
    const open = this.#pages.get(page);
    return open === undefined ? 0 : gathered(rate * open.weight, nowMs - open.readMs);
  }

  best(nowMs: number, isFree: (page: number) => boolean): number | null {
    let best: { page: number | null; value: number } = { page: null, value: 0 };
    for (const page of this.#pages.keys()) {
      const value = this.gatheredOn(page, 1, nowMs);
      if (value > best.value && isFree(page)) best = { page, value };
    }
    return best.page;
  }
}
