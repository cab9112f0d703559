/**
 * Polls the ends at which a list may grow. Which end that is, is learned: both are tried, and an end that yields nothing while
 * walks find new records elsewhere is demoted (trust.ts). Holds no I/O: it says which page is due, and is given what the page showed.
 */
import type { StoredPage } from '../store.js';

export type EndName = 'last' | 'first';

/** Where the next poll of an end reads. */
export interface TailPosition {
  end: EndName;
  page: number;
  cursor: string | null;
  /** Behind a page that overlapped with the known records. */
  follows: boolean;
}

/** New records are weighed over this time. */
const GROWTH_MS = 60_000;
/** A list that gains as many has the whole weight, and one that gains fewer has less. */
const GROWS_PER_SECOND = 0.1;
/** Any list may begin to grow. */
const LEAST_WEIGHT = 0.25;

/** What a poll showed; null when the page was dropped or could not be read. */
export type TailAnswer = { records: number; created: number; overlaps: boolean; nextCursor: string | null } | null;

/** `lost`: the end is not where it was expected; it waits for the next complete sweep. */
export type TailOutcome = 'created' | 'nothing new' | 'lost';

/** An end is polled every second while records appear, and less often the longer none has: a fraction of the pause adds little delay. */
const SHORTEST_MS = 1_000;
/** An end where nothing appears gets one of so many requests of the budget. */
const REQUESTS_PER_QUIET_POLL = 60;
const LONGEST_MS = 15_000;
/** An end where no record has appeared, while they appear at the other one: hardly any list grows at both, and each walk reads both. */
const OTHER_END_MS = 60_000;
const SHARE_OF_PAUSE = 1 / 15;
/** The pause that is assumed at first: a poll every 4 s. */
const FIRST_PAUSE_MS = 60_000;
/** Records that are named and not known ask for a poll at once, but not more often than this. */
const LEAST_BETWEEN_MS = 1_000;
/** A chain of full pages without a new record is not the end of the list. */
const MOST_FOLLOWED = 3;

interface End {
  position: Omit<TailPosition, 'end'> | null;
  polledMs: number;
  dueMs: number;
  createdMs: number;
  /** It has shown new records. */
  isProven: boolean;
  /** Pages followed in a row without a new record. */
  followed: number;
}

export class Tail {
  readonly #ends = new Map<EndName, End>();
  readonly #longestMs: number;
  /** New records that were found at any end: those of long ago count less. As if the list had grown so far. */
  #grown = (GROWS_PER_SECOND * GROWTH_MS) / 1_000;
  #grownMs = -Infinity;

  /** @param requestsPerSecond of the budget: the larger it is, the more often a quiet end can be polled */
  constructor(requestsPerSecond: number) {
    const quietMs = Math.round((REQUESTS_PER_QUIET_POLL / requestsPerSecond) * 1_000);
    this.#longestMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, quietMs));
  }

  /**
   * @param lastPage the last page of the last complete sweep; null when its cursor is not known
   * @param pages how many pages that sweep had
   */
  anchor({ pages, lastPage }: { pages: number; lastPage: Pick<StoredPage, 'cursor'> | null }, nowMs: number): void {
    const isOnePage = pages <= 1;
    const last = isOnePage ? { page: 1, cursor: null, follows: false } : positionOf(pages, lastPage);
    this.#place('last', last, nowMs);
    this.#place('first', isOnePage ? null : { page: 1, cursor: null, follows: false }, nowMs);
  }

  /** The end that has been due for longest. */
  next(nowMs: number, isUsed: (end: EndName) => boolean): TailPosition | null {
    const due = [...this.#ends].filter(([name, { dueMs }]) => dueMs <= nowMs && isUsed(name));
    due.sort(([, one], [, other]) => one.dueMs - other.dueMs);
    for (const [end, { position }] of due) if (position !== null) return { end, ...position };
    return null;
  }

  /** When the next end is due; Infinity when none is polled. */
  dueMs(isUsed: (end: EndName) => boolean): number {
    const used = [...this.#ends].filter(([name, { position }]) => position !== null && isUsed(name));
    return Math.min(...used.map(([, { dueMs }]) => dueMs));
  }

  /** A walk or a poll found so many new records. */
  grew(records: number, nowMs: number): void {
    this.#grown = this.#grownAt(nowMs) + records;
    this.#grownMs = nowMs;
  }

  /** What a poll is worth: by the new records of the last minute, at most 1. */
  weight(nowMs: number): number {
    const perSecond = (1_000 * this.#grownAt(nowMs)) / GROWTH_MS;
    return Math.min(1, Math.max(LEAST_WEIGHT, perSecond / GROWS_PER_SECOND));
  }

  /** Records that are not known are named: they may just have been created. */
  hurry(nowMs: number): void {
    for (const end of this.#ends.values())
      end.dueMs = Math.min(end.dueMs, Math.max(nowMs, end.polledMs + LEAST_BETWEEN_MS));
  }

  done({ end: name, page, follows }: TailPosition, answer: TailAnswer, nowMs: number): TailOutcome {
    const end = this.#ends.get(name);
    if (end === undefined) return 'nothing new';
    end.polledMs = nowMs;
    this.grew(answer?.created ?? 0, nowMs);
    const hasCreated = answer !== null && answer.created > 0;
    if (hasCreated) this.#prove(name, nowMs);
    end.dueMs = nowMs + (this.#isOtherProven(name) && !end.isProven ? OTHER_END_MS : this.#intervalMs(end, nowMs));
    if (answer === null || name === 'first') return hasCreated ? 'created' : 'nothing new';
    end.followed = hasCreated ? 0 : end.followed;
    const { nextCursor, overlaps, records } = answer;
    if (nextCursor === null || records === 0) return hasCreated ? 'created' : 'nothing new';
    end.followed += hasCreated ? 0 : 1;
    if (end.followed > MOST_FOLLOWED) {
      end.position = null;
      return 'lost';
    }
    end.position = { page: page + 1, cursor: nextCursor, follows: overlaps || follows };
    end.dueMs = nowMs;
    return hasCreated ? 'created' : 'nothing new';
  }

  /** Most lists grow at one end, and polls of the other take its turns. */
  #prove(proven: EndName, nowMs: number): void {
    for (const [name, end] of this.#ends) {
      if (name === proven) Object.assign(end, { createdMs: nowMs, isProven: true });
      else if (!end.isProven) end.dueMs = Math.max(end.dueMs, nowMs + OTHER_END_MS);
    }
  }

  #isOtherProven(name: EndName): boolean {
    return [...this.#ends].some(([other, { isProven }]) => other !== name && isProven);
  }

  #grownAt(nowMs: number): number {
    if (this.#grownMs === -Infinity) return this.#grown;
    return this.#grown * Math.exp(-Math.max(0, nowMs - this.#grownMs) / GROWTH_MS);
  }

  #intervalMs({ createdMs }: End, nowMs: number): number {
    return Math.min(this.#longestMs, Math.max(SHORTEST_MS, Math.round(SHARE_OF_PAUSE * (nowMs - createdMs))));
  }

  #place(name: EndName, position: End['position'], nowMs: number): void {
    const before = this.#ends.get(name);
    const { polledMs = -Infinity, dueMs = nowMs, createdMs = nowMs - FIRST_PAUSE_MS, isProven = false } = before ?? {};
    this.#ends.set(name, { position, polledMs, dueMs, createdMs, isProven, followed: 0 });
  }
}

function positionOf(page: number, known: Pick<StoredPage, 'cursor'> | null): End['position'] {
  return known === null ? null : { page, cursor: known.cursor, follows: false };
}
