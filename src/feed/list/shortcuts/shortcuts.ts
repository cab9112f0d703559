/** Finds pages and cursors for the plan, and keeps what was learned, where the lease is held. Its times are of the monotonic clock. */
import type { ListName } from '../../../crm/lists/lists.js';
import { messageOf } from '../../../kit/errors.js';
import type { OpenRecords } from '../../detect/open.js';
import type { ChangeEvent } from '../../../events/types.js';
import type { Log } from '../../../kit/log.js';
import type { StoredSweep, SweepSummary } from '../../store/sweep-state.js';
import type { SweepStore } from '../../store/sweep-store.js';
import { KnownPages } from './page-index.js';
import { Plan, type PagePlace, type PlannedPage, type PlanOptions, type ShortcutPage, type ShownPage } from './plan.js';
import { RecentMap } from './recent-map.js';
import type { AimQueue } from '../aim-queue.js';

export interface ShortcutsDeps extends PlanOptions {
  workspace: string;
  list: ListName;
  store: SweepStore;
  queue: AimQueue;
  /** Its descriptor says which records are open. @defaultValue false */
  hasOpen?: boolean;
  log: Log;
}

export interface WalkedPage {
  page: number;
  /** It was asked for by the cursor that the last complete sweep had used. */
  isKept: boolean;
  events: readonly ChangeEvent[];
  open: OpenRecords;
}

/** How often the queue of named records is read. */
const QUEUE_MS = 300;
const TAKEN_AT_ONCE = 64;
const MOST_NEWCOMERS = 5_000;
const PAGES_AT_ONCE = 200;
const SAVE_MS = 5_000;

export type Shortcuts = Pick<ListShortcuts, keyof ListShortcuts>;

export class ListShortcuts {
  readonly #deps: ShortcutsDeps;
  readonly #plan: Plan;
  readonly #index: KnownPages;
  #isRestored = false;
  #isSaved = true;
  #savedMs = -Infinity;
  #lastSweep: SweepSummary | null = null;
  #queueReadMs = -Infinity;
  /** When named records may be due: at once after a page, and later when there was none. */
  #lookMs = -Infinity;
  /** Cursors of pages by number, of the last complete sweep. */
  readonly #cursors = new Map<number, string | null>();
  /** The places of new records, which no complete sweep has seen. */
  readonly #newcomers = new RecentMap<string, PagePlace>(MOST_NEWCOMERS);

  constructor(deps: ShortcutsDeps) {
    this.#deps = deps;
    this.#plan = new Plan(deps);
    this.#index = new KnownPages(deps);
  }

  /** When the lease is acquired, and when a walk begins. Positions stay while no other sweep was complete. */
  async begin({ baselineAt, lastSweep }: StoredSweep['state'], nowMs: number): Promise<void> {
    if (!this.#isRestored) {
      const learned = await this.#deps.store.learned(this.#deps.list);
      if (learned !== null) this.#plan.restore(learned);
      this.#isRestored = true;
    }
    const sweep = baselineAt === null ? null : lastSweep;
    const isSame = sweep !== null && sweep.sweepId === this.#lastSweep?.sweepId;
    this.#lastSweep = sweep;
    if (isSame) return;
    this.#cursors.clear();
    if (sweep === null) return;
    const { pages, startedAt, completedAt } = sweep;
    const [startedMs, completedMs] = [Date.parse(startedAt), Date.parse(completedAt)];
    const lastCursor = pages > 1 ? await this.#cursorOf(pages) : null;
    this.#plan.anchor({ pages, startedMs, completedMs, lastCursor }, nowMs);
    if (this.#deps.hasOpen === true) await this.#readOpen(sweep, nowMs);
  }

  async #readOpen({ pages, startedAt }: SweepSummary, nowMs: number): Promise<void> {
    const readMs = Math.min(nowMs, Date.parse(startedAt) - (this.#deps.aheadMs?.() ?? 0));
    for (let from = 1; from <= pages; from += PAGES_AT_ONCE) {
      const stored = await this.#deps.store.pages(this.#deps.list, from, PAGES_AT_ONCE);
      for (const [at, page] of stored.entries())
        if (page !== null) this.#plan.knows(from + at, page.open ?? [], readMs);
    }
  }

  async next(nowMs: number): Promise<ShortcutPage | null> {
    if (this.#lastSweep === null) return null;
    await this.#readQueue(nowMs);
    const shortcut = await this.#next(nowMs);
    this.#lookMs = shortcut === null ? nowMs + QUEUE_MS : nowMs;
    return shortcut;
  }

  /** The page will not be read: its records are looked for again. */
  abandon(shortcut: ShortcutPage): void {
    this.#plan.again(shortcut);
  }

  /** @param shown null where nothing of the page was judged @param of.nowMs when the page was asked for */
  async done(
    shortcut: ShortcutPage,
    shown: ShownPage | null,
    { events, nowMs }: { events: readonly ChangeEvent[]; nowMs: number },
  ): Promise<void> {
    if (shown !== null) this.#remember(shortcut, shown);
    if (shown !== null && this.#isKept(shortcut)) this.#learnLive(events);
    this.#plan.answered(shortcut, shown, nowMs);
    this.#isSaved = false;
    if (nowMs - this.#savedMs >= SAVE_MS) await this.#save(nowMs);
  }

  walked({ page, isKept, events, open }: WalkedPage, nowMs: number): number {
    if (isKept) this.#learnLive(events);
    const isNew = ({ type, data }: ChangeEvent): boolean => type.endsWith('.created') && data.reappeared !== true;
    const changed = events.filter(({ type }) => type.endsWith('.updated')).length;
    return this.#plan.walked({ page, created: events.filter(isNew).length, changed, open }, nowMs);
  }

  isLive(): boolean {
    return this.#plan.live;
  }

  /** The page was asked for by a cursor of the last complete sweep. */
  #learnLive(events: readonly ChangeEvent[]): void {
    if (events.some((event) => this.#isNewerThanLastSweep(event))) this.#plan.live = true;
  }

  #isKept({ page, cursor }: PagePlace): boolean {
    return cursor !== null && this.#cursors.get(page) === cursor;
  }

  /** When `next` may have a page again, while no walk is under way. */
  dueMs(nowMs: number): number {
    if (this.#lastSweep === null) return Infinity;
    return Math.min(Math.max(this.#lookMs, this.#plan.paceMs()), this.#plan.dueMs(nowMs));
  }

  /** Until then, no page is given out because of the list's interval. */
  restsUntil(nowMs: number): number {
    return Math.max(nowMs, this.#plan.paceMs());
  }

  /** To be called before the lease is released. */
  async end(): Promise<void> {
    await this.#giveBack();
    await this.#save(this.#savedMs);
  }

  /** So that the process that gets the lease next finds them. */
  async #giveBack(): Promise<void> {
    const { list, workspace, log, queue } = this.#deps;
    const named = this.#plan.giveBack();
    try {
      await Promise.all(named.map(({ id, atMs }) => queue.add(list, [id], atMs)));
    } catch (error) {
      log.debug({ workspace, list, error: messageOf(error) }, 'named records not queued: the next sweep reads them');
    }
  }

  async #next(nowMs: number): Promise<ShortcutPage | null> {
    if (this.#plan.pending > 0) await this.#index.extend(this.#lastSweep);
    const pageOf = (id: string): number | null => this.#pagesOf(id)[0] ?? this.#newcomers.get(id)?.page ?? null;
    const planned = this.#plan.next(nowMs, this.#index.pages === null ? null : pageOf);
    if (planned === null) return null;
    this.#plan.taken(planned, nowMs);
    const cursor = planned.cursor === undefined ? await this.#cursorOfNamed(planned) : planned.cursor;
    if (cursor === undefined) {
      this.#plan.answered(planned, null, nowMs);
      return null;
    }
    return { ...planned, cursor };
  }

  /** Compares the record's own time. A change that was noticed by contents alone may be an earlier one. */
  #isNewerThanLastSweep({ type, time, data }: ChangeEvent): boolean {
    if (!type.endsWith('.updated') || data.detectedBy === 'content') return false;
    return Date.parse(time) > Date.parse(this.#lastSweep?.completedAt ?? '');
  }

  #pagesOf(id: string): readonly number[] {
    return this.#index.pages?.pagesOf(id) ?? [];
  }

  async #cursorOfNamed({ page, ids }: PlannedPage): Promise<string | null | undefined> {
    const isIndexed = ids.some((id) => this.#pagesOf(id).length > 0);
    const newcomer = isIndexed ? undefined : this.#newcomers.get(ids[0] ?? '');
    return newcomer === undefined ? await this.#cursorOf(page) : newcomer.cursor;
  }

  async #readQueue(nowMs: number): Promise<void> {
    if (nowMs - this.#queueReadMs < QUEUE_MS) return;
    this.#queueReadMs = nowMs;
    this.#plan.name(await this.#deps.queue.take(this.#deps.list, TAKEN_AT_ONCE));
  }

  async #cursorOf(page: number): Promise<string | null | undefined> {
    if (page === 1) return null;
    const remembered = this.#cursors.get(page);
    if (remembered !== undefined) return remembered;
    const [stored] = await this.#deps.store.pages(this.#deps.list, page, 1);
    const cursor = stored?.cursor ?? undefined;
    if (cursor !== undefined) this.#cursors.set(page, cursor);
    return cursor;
  }

  #remember(place: PagePlace, { created, keys }: { created: readonly string[]; keys: readonly string[] }): void {
    const { page, cursor } = place;
    for (const id of created) this.#newcomers.set(id, { page, cursor });
    for (const id of keys) if (this.#newcomers.has(id)) this.#newcomers.set(id, { page, cursor });
  }

  async #save(nowMs: number): Promise<void> {
    if (this.#isSaved) return;
    this.#isSaved = true;
    this.#savedMs = nowMs;
    const { list, workspace, log, store } = this.#deps;
    try {
      await store.saveLearned(list, this.#plan.learned());
    } catch (error) {
      log.debug({ workspace, list, error: messageOf(error) }, 'what shortcuts have learned was not saved');
    }
  }
}
