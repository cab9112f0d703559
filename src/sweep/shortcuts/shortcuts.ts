/**
 * The shortcuts of one list, for the process that holds its lease: which page is worth reading before the next page of the walk.
 * The end of a growing list is polled (tail.ts), and pages of records that events and hints name are fetched (aim.ts). A shortcut
 * is used while it proves useful (trust.ts). What a page may commit is decided in commit-shortcut.ts.
 */
import type { ListName } from '../../crm/lists/lists.js';
import { messageOf } from '../../errors.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Log } from '../../runtime/log.js';
import type { ListState, SweepStore, SweepSummary } from '../store.js';
import { Aim } from './aim.js';
import type { DropReason, ShortcutResult, ShownPage } from './commit-shortcut.js';
import { CursorAges } from './cursor-ages.js';
import { KnownPages } from './known-pages.js';
import type { ShortcutPage } from './shortcut-page.js';
import type { AimQueue, ShortcutStore } from './store.js';
import { Tail, type TailPosition } from './tail.js';
import {
  isTrusted,
  noTrustOfList,
  trustAfter,
  trustAfterMiss,
  type Evidence,
  type ShortcutName,
  type TrustOfList,
} from './trust.js';

export interface ShortcutsDeps {
  workspace: string;
  list: ListName;
  store: Pick<SweepStore, 'pages'> & Pick<ShortcutStore, 'membersOf' | 'trust' | 'saveTrust'>;
  queue: Pick<AimQueue, 'take'>;
  /** Of the workspace's budget. */
  requestsPerSecond: number;
  log: Log;
}

/** `failed`: the page could not be read. `passed on`: the walk waited for the same page and takes the answer. */
export type ShortcutOutcome = ShortcutResult | { outcome: 'failed' | 'passed on' };

export interface Shortcuts {
  /** To be called when the lease was acquired, and when a walk begins. Keeps its positions while no other sweep was complete. */
  begin(state: ListState, nowMs: number): Promise<void>;
  /** The page that is worth reading now; null when there is none. */
  next(kind: ShortcutPage['kind'], nowMs: number): Promise<ShortcutPage | null>;
  /** What became of the page. `nowMs` is when it was asked for. */
  done(shortcut: ShortcutPage, result: ShortcutOutcome, nowMs: number): Promise<void>;
  /** The page was requested and will not be read: its records are looked for again. */
  abandon(shortcut: ShortcutPage, nowMs: number): void;
  /** What the walk found on a page. */
  walked(found: { page: number; events: readonly ChangeEvent[] }, nowMs: number): void;
  /** An answer to a request of then names this cursor. */
  named(cursor: string, askedAtMs: number): void;
  /** When `next` may have a page again, while no walk is under way. */
  dueMs(nowMs: number): number;
  /** To be called before the lease is released. */
  end(): Promise<void>;
}

/** How often the queue of named records is read. */
const QUEUE_MS = 300;
const TAKEN_AT_ONCE = 64;
/** Enough pages to fetch for some seconds. The others stay in the queue, where every process finds them. */
const ENOUGH_PENDING = 128;
/** One fetch of a list waits at a time, and the next may be worth more. */
const LEAST_AIMED_WEIGHT = 0.4;
const MOST_NEWCOMERS = 5_000;
const SAVE_MS = 5_000;
/** A change this much older than the last read of its page should have been seen by that read. */
const MISSED_MS = 60_000;

export function createShortcuts(deps: ShortcutsDeps): Shortcuts {
  return new ListShortcuts(deps);
}

type Place = Pick<ShortcutPage, 'page' | 'cursor'>;

class ListShortcuts implements Shortcuts {
  readonly #deps: ShortcutsDeps;
  readonly #tail: Tail;
  readonly #aim = new Aim();
  #trust: TrustOfList | null = null;
  #savedTrust: TrustOfList | null = null;
  #savedMs = 0;
  #lastSweep: SweepSummary | null = null;
  readonly #index: KnownPages;
  #queueReadMs = -Infinity;
  /** When named records may be due: at once after a page, and later when there was none. */
  #lookMs = -Infinity;
  /** The positions that `next` gave out. */
  readonly #polls = new WeakMap<ShortcutPage, TailPosition>();
  readonly #ages = new CursorAges();
  /** Cursors of pages by number, of the last complete sweep. */
  readonly #cursors = new Map<number, string | null>();
  /** Where new records stand, which no complete sweep has seen. */
  readonly #newcomers = new Map<string, Place>();
  /** When a page was read last, and everything on it was settled. */
  readonly #readMs = new Map<number, number>();

  constructor(deps: ShortcutsDeps) {
    this.#deps = deps;
    this.#tail = new Tail(deps.requestsPerSecond);
    this.#index = new KnownPages(deps);
  }

  async begin({ baselineAt, lastSweep }: ListState, nowMs: number): Promise<void> {
    this.#trust ??= (await this.#deps.store.trust(this.#deps.list)) ?? noTrustOfList();
    const sweep = baselineAt === null ? null : lastSweep;
    const isSame = sweep !== null && sweep.sweepId === this.#lastSweep?.sweepId;
    this.#lastSweep = sweep;
    if (isSame) return;
    this.#cursors.clear();
    this.#ages.begin(Date.parse(sweep?.startedAt ?? ''));
    this.#readMs.clear();
    this.#aim.forgetPages();
    if (this.#lastSweep === null) return;
    const { pages } = this.#lastSweep;
    const cursor = pages > 1 ? await this.#cursorOf(pages) : undefined;
    this.#tail.anchor({ pages, lastPage: cursor === undefined ? null : { cursor } }, nowMs);
  }

  async next(kind: ShortcutPage['kind'], nowMs: number): Promise<ShortcutPage | null> {
    if (this.#lastSweep === null) return null;
    const found = kind === 'tail' ? this.#nextPoll(nowMs) : await this.#nextNamed(nowMs);
    if (found !== null && this.#ages.isDoubtful(found.cursor, nowMs)) found.doubtful = true;
    return found;
  }

  abandon({ kind, page, ids }: ShortcutPage, nowMs: number): void {
    if (kind === 'aimed') this.#aim.again({ page, ids }, nowMs);
  }

  async done(shortcut: ShortcutPage, result: ShortcutOutcome, nowMs: number): Promise<void> {
    const shown = result.outcome === 'shown' ? result : null;
    if (result.outcome === 'dropped' && result.why === 'lagging') this.#ages.gaveOld();
    if (shown?.isLive === true) this.#ages.gaveLive(shortcut.cursor, nowMs);
    if (shown?.nextCursor != null) this.named(shown.nextCursor, nowMs);
    if (shown !== null || result.outcome === 'passed on') this.#aim.shown(shortcut.page, nowMs);
    if (shown !== null) this.#remember(shortcut, shown, nowMs);
    if (shown !== null && shown.created.length > 0) this.#foundNew(shortcut.page, nowMs);
    const poll = this.#polls.get(shortcut);
    if (poll !== undefined) this.#polled(poll, result, nowMs);
    else {
      this.#note('aimed', evidenceOfAimed(shortcut, result), nowMs);
      if (shown !== null) this.#looked(shortcut, shown);
    }
    if (nowMs - this.#savedMs >= SAVE_MS) await this.#save(nowMs);
  }

  walked({ page, events }: { page: number; events: readonly ChangeEvent[] }, nowMs: number): void {
    const isNew = ({ type, data }: ChangeEvent): boolean => type.endsWith('.created') && data.reappeared !== true;
    const created = events.filter(isNew).length;
    this.#tail.grew(created, nowMs);
    if (created > 0) this.#foundNew(page, nowMs);
    for (const event of events)
      if (event.type.endsWith('.updated') && this.#wasMissed(event)) this.#miss('aimed', nowMs);
  }

  named(cursor: string, askedAtMs: number): void {
    this.#ages.named(cursor, askedAtMs);
  }

  dueMs(nowMs: number): number {
    if (this.#lastSweep === null) return Infinity;
    return Math.min(
      this.#lookMs,
      this.#tail.dueMs((end) => this.#isUsed(end, nowMs)),
    );
  }

  async end(): Promise<void> {
    await this.#save(this.#savedMs);
  }

  #isUsed(name: ShortcutName, nowMs: number): boolean {
    return this.#trust === null || isTrusted(this.#trust[name], nowMs);
  }

  #nextPoll(nowMs: number): ShortcutPage | null {
    const poll = this.#tail.next(nowMs, (end) => this.#isUsed(end, nowMs));
    if (poll === null) return null;
    const { page, cursor, follows } = poll;
    const weight = this.#tail.weight(nowMs);
    const shortcut: ShortcutPage = { kind: 'tail', page, cursor, ids: [], weight, ...(follows && { follows }) };
    this.#polls.set(shortcut, poll);
    this.#aim.fetched(page, nowMs);
    return shortcut;
  }

  async #nextNamed(nowMs: number): Promise<ShortcutPage | null> {
    await this.#readQueue(nowMs);
    const found = await this.#nextAimed(nowMs);
    this.#lookMs = found === null ? nowMs + QUEUE_MS : nowMs;
    return found;
  }

  async #nextAimed(nowMs: number): Promise<ShortcutPage | null> {
    if (this.#aim.pending === 0 || !this.#isUsed('aimed', nowMs)) return null;
    await this.#index.extend(this.#lastSweep);
    const index = this.#index.pages;
    if (index === null) return null;
    const pageOf = (id: string): number | null => index.pagesOf(id)[0] ?? this.#newcomers.get(id)?.page ?? null;
    const { page: aimed, unknown } = this.#aim.next(nowMs, pageOf);
    if (unknown.length > 0) this.#tail.hurry(nowMs);
    if (aimed === null) return null;
    this.#aim.taken(aimed, nowMs);
    const isIndexed = aimed.ids.some((id) => index.pagesOf(id).length > 0);
    const newcomer = isIndexed ? undefined : this.#newcomers.get(aimed.ids[0] ?? '');
    const cursor = newcomer === undefined ? await this.#cursorOf(aimed.page) : newcomer.cursor;
    const { page, ids, likelihood } = aimed;
    const weight = Math.max(LEAST_AIMED_WEIGHT, likelihood);
    return cursor === undefined ? null : { kind: 'aimed', page, ids, cursor, weight };
  }

  async #readQueue(nowMs: number): Promise<void> {
    if (nowMs - this.#queueReadMs < QUEUE_MS || this.#aim.pending >= ENOUGH_PENDING) return;
    this.#queueReadMs = nowMs;
    this.#aim.add(await this.#deps.queue.take(this.#deps.list, TAKEN_AT_ONCE));
  }

  /** The cursor of a page in the last complete sweep; undefined when it is not known. */
  async #cursorOf(page: number): Promise<string | null | undefined> {
    if (page === 1) return null;
    const known = this.#cursors.get(page);
    if (known !== undefined) return known;
    const [before, own] = await this.#deps.store.pages(this.#deps.list, page - 1, 2);
    // A page that is recognised no longer has lost its cursor, but the page before may still name it.
    const cursor = own?.cursor ?? before?.nextCursor ?? undefined;
    if (cursor !== undefined) this.#cursors.set(page, cursor);
    return cursor;
  }

  #remember({ page, cursor }: ShortcutPage, { created, keys, left }: ShownPage, nowMs: number): void {
    const place = { page, cursor };
    for (const id of created) this.#newcomers.set(id, place);
    for (const id of keys) if (this.#newcomers.has(id)) this.#newcomers.set(id, place);
    for (const id of this.#newcomers.keys()) {
      if (this.#newcomers.size <= MOST_NEWCOMERS) break;
      this.#newcomers.delete(id);
    }
    if (left === 0) this.#readMs.set(page, nowMs);
    else this.#readMs.delete(page);
  }

  #looked({ ids }: ShortcutPage, { keys, created, rewritten, left }: ShownPage): void {
    const held = new Set(keys);
    const written = new Set([...created, ...rewritten]);
    // Which of the others were left to the walk is not known, so they say nothing.
    const known = ids.filter((id) => held.has(id) && (left === 0 || written.has(id)));
    this.#aim.looked(known, (id) => written.has(id));
  }

  #polled(poll: TailPosition, result: ShortcutOutcome, nowMs: number): void {
    const shown = result.outcome === 'shown' ? result : null;
    const answer =
      shown === null
        ? null
        : {
            records: shown.keys.length,
            created: shown.created.length,
            overlaps: shown.overlaps,
            nextCursor: shown.nextCursor,
          };
    const outcome = this.#tail.done(poll, answer, nowMs);
    const isWrong = outcome === 'lost' || isWrongDrop(result);
    this.#note(poll.end, isWrong ? 'wrong' : outcome === 'created' ? 'useful' : 'none', nowMs);
  }

  /** New records stand on this page: an end that is in use and elsewhere has missed them. Removals may have moved the end by a page. */
  #foundNew(page: number, nowMs: number): void {
    const pages = this.#lastSweep?.pages ?? 0;
    if (page < pages - 1 && this.#isUsed('last', nowMs)) this.#miss('last', nowMs);
    if (page > 1 && pages > 1 && this.#isUsed('first', nowMs)) this.#miss('first', nowMs);
  }

  #wasMissed({ subject, time, data }: ChangeEvent): boolean {
    // By its content only: its time is that of an earlier change, or of the observation.
    if (data.detectedBy === 'content') return false;
    const pages = this.#index.pages?.pagesOf(subject) ?? [];
    return pages.some((page) => Date.parse(time) < (this.#readMs.get(page) ?? -Infinity) - MISSED_MS);
  }

  #note(name: ShortcutName, evidence: Evidence, nowMs: number): void {
    this.#change(name, (trust) => trustAfter(trust, evidence, nowMs), nowMs);
  }

  #miss(name: ShortcutName, nowMs: number): void {
    this.#change(name, (trust) => trustAfterMiss(trust, nowMs), nowMs);
  }

  #change(
    name: ShortcutName,
    after: (trust: TrustOfList[ShortcutName]) => TrustOfList[ShortcutName],
    nowMs: number,
  ): void {
    const before = this.#trust ?? noTrustOfList();
    const next = after(before[name]);
    this.#trust = { ...before, [name]: next };
    if (next.demotions <= before[name].demotions) return;
    const { workspace, list, log } = this.#deps;
    const { used, useful, wrong, pausedUntil } = next;
    const facts = { workspace, list, shortcut: name, used, useful, wrong, pauseMs: pausedUntil - nowMs };
    // Not a problem: the walk finds the changes, and the status shows the trust.
    log.debug(facts, 'shortcut paused: it is mostly wrong');
  }

  async #save(nowMs: number): Promise<void> {
    if (this.#trust === null || this.#trust === this.#savedTrust) return;
    this.#savedMs = nowMs;
    const { list, workspace, log, store } = this.#deps;
    const saved = this.#trust;
    try {
      await store.saveTrust(list, saved);
      this.#savedTrust = saved;
    } catch (error) {
      log.debug({ workspace, list, error: messageOf(error) }, 'trust in shortcuts not saved');
    }
  }
}

/** Reasons that say something about the shortcut rather than about the state of the list. */
const WRONG: ReadonlySet<DropReason> = new Set(['lagging', 'no overlap']);

function isWrongDrop(result: ShortcutOutcome): boolean {
  return result.outcome === 'dropped' && WRONG.has(result.why);
}

function evidenceOfAimed({ ids }: ShortcutPage, result: ShortcutOutcome): Evidence {
  if (result.outcome !== 'shown') return isWrongDrop(result) ? 'wrong' : 'none';
  const held = new Set(result.keys);
  if (!ids.some((id) => held.has(id))) return 'wrong';
  return result.created.length + result.rewritten.length > 0 ? 'useful' : 'right';
}
