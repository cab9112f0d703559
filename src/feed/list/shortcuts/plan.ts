/**
 * Which page of a list is worth reading next outside the order of the walk. One formula: how long the changes that a request for the page is
 * expected to find now have been waiting, all together.
 *
 *     value(page) = ( growth of the end × 8 (or 1/2) × t² / 2
 *                   + named records on it × 1/2 × (1 s + half of the time of a walk)
 *                   + open records on it, each × nearness of its due date × rate of their changes × t² / 2 )
 *                   × 1/4 for each time that such a page was wrong for this list lately
 *
 * t is the time since the page was read. A page is requested when its value is `WORTH`, the most valuable one first. All rates are learned. A
 * further source of value is a further line in `#sources`. Holds no I/O. Its times are of the monotonic clock.
 */
import type { OpenRecords } from '../../detect/open.js';
import { OpenPages } from './open-pages.js';
import { Rates } from './rates.js';
import { RecentMap } from './recent-map.js';
import { changesPerRow, expected, gathered, gatheringMs, rateWorth, untilWalked, WORTH } from './waiting.js';
import { NO_USES, type EndName, type Learned, type ShortcutKind, type Uses } from '../../store/sweep-state.js';
import type { Aimed } from '../aim-queue.js';
import { WaitingNames } from './waiting-names.js';

export interface PlanOptions {
  requestsPerSecond: number;
  /** The list is swept at most this often; null: as often as the budget allows. */
  intervalMs: number | null;
  /** The rows of the list are read for the records that they name. @defaultValue false */
  namesOnly?: boolean;
  /** How far the wall clock is ahead of the monotonic one now, ms. @defaultValue one clock for both */
  aheadMs?: () => number;
}

export interface PlannedPage {
  kind: ShortcutKind;
  /** The number that the page had in the last complete sweep, or would have behind its last page. */
  page: number;
  /** The cursor of an end. Absent: that of the last complete sweep. */
  cursor?: string | null;
  ids: readonly string[];
  /** Grows while the request waits for the budget. */
  value: (nowMs: number) => number;
}

export interface ShortcutPage extends PlannedPage {
  cursor: string | null;
}

/** The contents of a page, whether a walk or a shortcut has read it. */
export interface ShownPage {
  keys: readonly string[];
  created: readonly string[];
  rewritten: readonly string[];
  /** Records that differ and are left to the walk. */
  left: number;
  /** It shows a record that is older than its stored record. */
  isOutdated: boolean;
  nextCursor: string | null;
  open: OpenRecords;
}

export interface PagePlace {
  page: number;
  cursor: string | null;
}

interface End extends PagePlace {
  readMs: number;
  /** New records that are expected whatever its growth: the page is new, or a record is named that is not known. */
  expected: number;
  /** Pages followed in a row without a new record. */
  followed: number;
}

/** An end where nothing appears gets one of so many requests of the budget, and not fewer than one in 15 s. */
const REQUESTS_PER_QUIET_POLL = 60;
const LONGEST_QUIET_MS = 15_000;
/** A list that is new to us is taken to gain a change a minute. */
const CHANGES_AT_FIRST = { found: 1, of: 60 };
/** An open record due now is taken to change within the hour: too often costs free requests, too rarely delays. */
const OPEN_CHANGES_AT_FIRST = { found: 1, of: 3_600 };
/** A request that is wrong again and again is worth a 64th, so that it is tried again some time. */
const MOST_WRONG = 6;
/** No page is requested more often. */
const PAGE_REST_MS = 1_000;
/** How long ago an end was read that was never polled. */
const UNREAD_MS = 60_000;
/** A longer time without a poll says no more. */
const LONGEST_S = 600;
/** The most pages per interval of a list that has one. */
const PAGES_PER_INTERVAL = 60;
/** A chain of full pages without a new record is not the end of the list. */
const MOST_FOLLOWED = 3;

export class Plan {
  #rates = new Rates();
  /** Kept cursors show current pages. Learned from a change newer than the last walk; lost with an older record. */
  live = false;
  #uses: Record<ShortcutKind, Uses> = { last: NO_USES, first: NO_USES, aimed: NO_USES, open: NO_USES };
  readonly #ends = new Map<EndName, End>();
  readonly #open = new OpenPages();
  #pages = 0;
  readonly #names = new WaitingNames();
  readonly #underWay = new Set<number>();
  readonly #requestedMs = new RecentMap<number, number>();
  /** The rate of changes that every end is taken to have. */
  readonly #leastRate: number;
  readonly #perRow: number;
  readonly #paceMs: number;
  readonly #aheadMs: () => number;
  /** How long a walk takes, or the list waits for one. */
  #walkMs = 0;
  #lastMs = -Infinity;

  constructor({ requestsPerSecond, intervalMs, namesOnly = false, aheadMs = () => 0 }: PlanOptions) {
    const quietMs = Math.min(LONGEST_QUIET_MS, (1_000 * REQUESTS_PER_QUIET_POLL) / requestsPerSecond);
    this.#leastRate = rateWorth(Math.max(PAGE_REST_MS, quietMs));
    this.#perRow = changesPerRow(namesOnly);
    this.#paceMs = (intervalMs ?? 0) / PAGES_PER_INTERVAL;
    this.#aheadMs = aheadMs;
  }

  restore({ live, uses, rates }: Learned): void {
    this.live = live;
    this.#uses = uses;
    this.#rates = new Rates(rates, -this.#aheadMs());
  }

  learned(): Learned {
    return { live: this.live, uses: this.#uses, rates: this.#rates.stored(this.#aheadMs()) };
  }

  get pending(): number {
    return this.#names.size;
  }

  /** A sweep is complete: its pages are those of the list now. @param sweep.startedMs ms since the epoch, as `completedMs` */
  anchor(
    {
      pages,
      startedMs,
      completedMs,
      lastCursor,
    }: { pages: number; startedMs: number; completedMs: number; lastCursor: string | null | undefined },
    nowMs: number,
  ): void {
    this.#pages = pages;
    this.#walkMs = Math.max(PAGES_PER_INTERVAL * this.#paceMs, completedMs - startedMs);
    this.#names.walked(startedMs);
    this.#requestedMs.clear();
    this.#place('last', pages <= 1 ? { page: 1, cursor: null } : positionOf(pages, lastCursor), nowMs);
    this.#place('first', pages <= 1 ? null : { page: 1, cursor: null }, nowMs);
    this.#open.keepUpTo(pages);
  }

  knows(page: number, open: OpenRecords, atMs: number): void {
    this.#open.knows(page, open, { readMs: atMs, aheadMs: this.#aheadMs() });
  }

  name(named: readonly Aimed[]): void {
    for (const aimed of [...named].sort((first, second) => first.atMs - second.atMs)) this.#names.add(aimed);
  }

  giveBack(): Aimed[] {
    return this.#names.giveBack();
  }

  /** If any is worth a request. @param pageOf where a record stands; null while that of none is known */
  next(nowMs: number, pageOf: ((id: string) => number | null) | null): PlannedPage | null {
    if (nowMs - this.#lastMs < this.#paceMs) return null;
    const ids = pageOf === null ? new Map<number, readonly string[]>() : this.#namedByPage(pageOf);
    const ends = new Map([...this.#ends].map(([name, { page }]) => [page, name]));
    const open = this.#open.best(nowMs, (page) => this.#isFree(page, nowMs));
    const pages = [...ids.keys(), ...ends.keys(), ...(open === null ? [] : [open])];
    const free = pages.filter((page) => this.#isFree(page, nowMs));
    let best: PlannedPage | null = null;
    for (const page of new Set(free)) {
      const plan = this.#planned(page, ends.get(page), ids.get(page) ?? []);
      if (plan.value(nowMs) >= Math.max(WORTH, best?.value(nowMs) ?? 0) && plan.value(nowMs) !== best?.value(nowMs))
        best = plan;
    }
    return best;
  }

  taken({ page, ids }: PlannedPage, nowMs: number): void {
    this.#lastMs = nowMs;
    this.#underWay.add(page);
    this.#requestedMs.set(page, nowMs);
    this.#names.taken(ids);
  }

  /** The page was requested, and its answer will not be read. */
  again({ page, ids }: PlannedPage): void {
    this.#underWay.delete(page);
    this.#requestedMs.delete(page);
    this.#names.again(ids);
  }

  /** @param answer null: it could not be read, or is not ours to judge */
  answered({ kind, page, ids }: PlannedPage, answer: ShownPage | null, askedAtMs: number): void {
    this.#underWay.delete(page);
    const isOutdated = answer?.isOutdated === true;
    if (isOutdated) this.live = false;
    const shown = isOutdated ? null : answer;
    const isFound = shown !== null && shown.created.length + shown.rewritten.length > 0;
    const changed = (shown?.rewritten ?? []).filter((id) => !ids.includes(id)).length;
    if (shown !== null) this.#sawOpen(page, { open: shown.open, changed }, askedAtMs);
    else this.#open.asked(page, askedAtMs);
    const isMissing = kind === 'aimed' && shown !== null && !ids.some((id) => shown.keys.includes(id));
    const isLost = (kind === 'last' || kind === 'first') && this.#polled(kind, { page, shown, askedAtMs });
    const isWrong = isOutdated || isMissing || isLost;
    const isEnd = kind === 'last' || kind === 'first';
    this.#note(kind, { isWrong, isRight: isFound || (!isEnd && shown !== null), isFound }, askedAtMs);
    if (shown !== null) this.#names.lookedUp(page, ids, askedAtMs + this.#aheadMs());
    if (shown !== null && shown.created.length > 0) this.#grewAt(page, askedAtMs);
  }

  /**
   * @param read.created new records on the page that the walk has read @param read.changed known records that had changed
   * @returns how many of the new records the next poll of an end would have found
   */
  walked(
    { page, created, changed, open }: { page: number; created: number; changed: number; open: OpenRecords },
    nowMs: number,
  ): number {
    this.#sawOpen(page, { open, changed }, nowMs);
    if (created === 0) return 0;
    this.#grewAt(page, nowMs);
    const name = page >= this.#pages - 1 ? 'last' : page === 1 ? 'first' : null;
    if (name === null) return 0;
    this.#rates.add(`growth ${name}`, { found: created, of: 0 }, nowMs);
    return this.#ends.has(name) ? created : 0;
  }

  /** When an end is worth a request, and when the pace allows one. Infinity while there is no end. */
  dueMs(nowMs: number): number {
    const due = [...this.#ends].map(([name, end]) => {
      const worth = WORTH / this.#trust(name, nowMs);
      const gathers = gatheringMs(this.#rateAt(name, nowMs), worth);
      const worthMs = end.readMs + (end.expected > 0 ? Math.min(gathers, 1_000 * (worth - 1)) : gathers);
      const freeMs = this.#underWay.has(end.page) ? Infinity : (this.#requestedMs.get(end.page) ?? -Infinity);
      return Math.max(worthMs, freeMs + PAGE_REST_MS);
    });
    return Math.max(Math.min(...due), this.paceMs());
  }

  paceMs(): number {
    return this.#lastMs + this.#paceMs;
  }

  #planned(page: number, name: EndName | undefined, ids: readonly string[]): PlannedPage {
    const kind = name ?? (ids.length > 0 ? 'aimed' : 'open');
    const end = name === undefined ? undefined : this.#ends.get(name);
    const sources = this.#sources(page, { name, end, named: ids.length });
    const value = (nowMs: number): number =>
      this.#trust(kind, nowMs) * sources.reduce((sum, source) => sum + source(nowMs), 0);
    return { kind, page, ids, value, ...(end !== undefined && { cursor: end.cursor }) };
  }

  #sources(
    page: number,
    { name, end, named }: { name: EndName | undefined; end: End | undefined; named: number },
  ): readonly ((nowMs: number) => number)[] {
    return [
      (nowMs) => (name && end ? gathered(this.#rateAt(name, nowMs), nowMs - end.readMs) : 0),
      (nowMs) => (end ? expected(end.expected, nowMs - end.readMs) : 0),
      () => untilWalked(named, this.#walkMs),
      (nowMs) => this.#open.gatheredOn(page, this.#rates.rate('open', OPEN_CHANGES_AT_FIRST, nowMs), nowMs),
    ];
  }

  /** Changes per second, counted in those of known records. */
  #rateAt(name: EndName, nowMs: number): number {
    const { found, of } = CHANGES_AT_FIRST;
    const rows = this.#rates.rate(`growth ${name}`, { found: found / this.#perRow, of }, nowMs);
    return Math.max(this.#leastRate, this.#perRow * rows);
  }

  #trust(kind: ShortcutKind, nowMs: number): number {
    return 4 ** -this.#rates.found(`wrong ${kind}`, nowMs);
  }

  /** Read by the walk or a shortcut. @param changed of its known records, without those that were named */
  #sawOpen(page: number, { open, changed }: { open: OpenRecords; changed: number }, nowMs: number): void {
    const seconds = this.#open.secondsOf(page, nowMs);
    if (seconds !== null) this.#rates.add('open', { found: changed, of: seconds }, nowMs);
    this.knows(page, open, nowMs);
  }

  #isFree(page: number, nowMs: number): boolean {
    return !this.#underWay.has(page) && nowMs - (this.#requestedMs.get(page) ?? -Infinity) >= PAGE_REST_MS;
  }

  /** A record that is not known may just have been created: it is looked for at the ends. */
  #namedByPage(pageOf: (id: string) => number | null): ReadonlyMap<number, readonly string[]> {
    const { byPage, unknown } = this.#names.byPage(pageOf);
    if (unknown > 0) for (const end of this.#ends.values()) end.expected = 1;
    return byPage;
  }

  /** True: the end is not where it was expected, and waits for the next complete sweep. */
  #polled(
    name: EndName,
    { page, shown, askedAtMs }: { page: number; shown: ShownPage | null; askedAtMs: number },
  ): boolean {
    const end = this.#ends.get(name);
    if (end?.page !== page) return false;
    const created = shown?.created.length ?? 0;
    const seconds = Math.min(LONGEST_S, Math.max(0, askedAtMs - end.readMs) / 1_000);
    if (shown !== null) this.#rates.add(`growth ${name}`, { found: created, of: seconds }, askedAtMs);
    Object.assign(end, { readMs: askedAtMs, expected: 0, followed: created > 0 ? 0 : end.followed });
    if (name === 'first' || shown === null || shown.nextCursor === null || shown.keys.length === 0) return false;
    end.followed += created > 0 ? 0 : 1;
    if (end.followed > MOST_FOLLOWED) {
      this.#ends.delete(name);
      return true;
    }
    Object.assign(end, { page: page + 1, cursor: shown.nextCursor, expected: 1 });
    return false;
  }

  /** Ends elsewhere have missed these new records. Removals may have moved the end by a page. */
  #grewAt(page: number, nowMs: number): void {
    if (page < this.#pages - 1) this.#wasWrong('last', nowMs);
    if (page > 1 && this.#pages > 1) this.#wasWrong('first', nowMs);
  }

  #wasWrong(kind: ShortcutKind, nowMs: number): void {
    const name = `wrong ${kind}`;
    const most = MOST_WRONG - this.#rates.found(name, nowMs);
    this.#rates.add(name, { found: Math.max(0, Math.min(1, most)), of: 0 }, nowMs);
  }

  #note(kind: ShortcutKind, seen: { isWrong: boolean; isRight: boolean; isFound: boolean }, nowMs: number): void {
    const { used, useful, wrong } = this.#uses[kind];
    this.#uses[kind] = {
      used: used + 1,
      useful: useful + (seen.isFound ? 1 : 0),
      wrong: wrong + (seen.isWrong ? 1 : 0),
    };
    if (seen.isWrong) this.#wasWrong(kind, nowMs);
    else if (seen.isRight) this.#rates.add(`wrong ${kind}`, { found: -1, of: 0 }, nowMs);
  }

  #place(name: EndName, position: PagePlace | null, nowMs: number): void {
    const { readMs = nowMs - UNREAD_MS } = this.#ends.get(name) ?? {};
    if (position === null) this.#ends.delete(name);
    else this.#ends.set(name, { ...position, readMs, expected: 0, followed: 0 });
  }
}

function positionOf(page: number, cursor: string | null | undefined): PagePlace | null {
  return cursor === undefined ? null : { page, cursor };
}
