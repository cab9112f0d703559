/**
 * How a walk uses the shortcuts of its list. Their pages are requested at the same time as those of the walk, so that neither waits for the
 * other's requests, and committed while the walk waits for its next page, so that only one of them commits at a time.
 */
import type { Page } from '../api/read-api.js';
import type { ChangeEvent } from '../events/types.js';
import { expectCommitted } from './errors.js';
import type { SweepDeps, SweepOptions } from './options.js';
import type { ReadAhead } from './read-ahead.js';
import { withShortcut } from './shortcuts/commit-shortcut.js';
import type { ShortcutPage } from './shortcuts/shortcut-page.js';
import type { Shortcuts } from './shortcuts/shortcuts.js';
import type { ShortcutStore } from './shortcuts/store.js';
import { askShortcut, commitAsked, type AskedShortcut } from './shortcuts/take-shortcut.js';
import type { SweepMemory } from './start-sweep.js';
import type { Checkpoint, FencingToken, StoredSweep } from './store.js';

/** With the list's shortcuts, which are used between the pages of the walk. */
export interface RunOptions extends SweepOptions {
  /** @defaultValue none are used */
  shortcuts?: { reader: Shortcuts; store: ShortcutStore } | undefined;
}

export interface WalkPosition {
  checkpoint: Checkpoint;
  token: FencingToken;
  memory: SweepMemory;
  stored: StoredSweep;
  ahead: Pick<ReadAhead, 'forget' | 'supply'>;
}

/** The page that the walk reads. */
interface Reading {
  page: number;
  cursor: string | null;
  answer: Promise<unknown>;
}

export interface WalkShortcuts {
  /**
   * Until the page of the walk is read, requests the pages of shortcuts that are due, and commits those that arrive. The answer for the
   * page that the walk itself waits for becomes the walk's, because urgent requests are sent earlier. If it was requested before the walk
   * came to the page, it may be older than the page before, so it is requested again.
   */
  during(reading: Reading, position: WalkPosition): Promise<Checkpoint>;
  /** The dependencies of the walk, so that what it commits is known here: an answer that was requested before is older. */
  watching(deps: SweepDeps): SweepDeps;
  /** What the walk itself found on a page. */
  found(page: number, events: readonly ChangeEvent[]): void;
  /** An answer of the walk names this cursor. */
  named(cursor: string, askedAtMs: number): void;
  /** How many pages of shortcuts have been committed. */
  commits(): number;
  /**
   * Whether one of these records was committed after so many commits: a page of the walk that was requested before may be older. The page
   * may have another number than the shortcut's, because records move.
   */
  hasOvertaken(ids: readonly unknown[], askedAfter: number): boolean;
  /** Drops the requests under way. The records they were for are looked for later. */
  close(): void;
}

/** How long to wait before looking again, at least: a shortcut may be due for which nothing can be done yet. */
const LOOK_MS = 200;

export async function beginShortcuts(
  deps: SweepDeps,
  options: RunOptions,
  { token, stored, started }: { token: FencingToken; stored: StoredSweep; started: Checkpoint },
): Promise<WalkShortcuts> {
  const { list, shortcuts } = options;
  if (shortcuts === undefined) return NONE;
  if (started.sweepId !== stored.checkpoint?.sweepId)
    expectCommitted(list, await shortcuts.store.beginWalk(list, token));
  await shortcuts.reader.begin(stored.state, deps.clock.now());
  return new ShortcutsBesideWalk(deps, options, shortcuts);
}

const NONE: WalkShortcuts = {
  watching: (deps) => deps,
  during: (_, { checkpoint }) => Promise.resolve(checkpoint),
  found: () => undefined,
  named: () => undefined,
  commits: () => 0,
  hasOvertaken: () => false,
  close: () => undefined,
};

/** Made once: an abort without a reason makes an exception with a stack. */
const WOKEN = new Error('The wait is over.');

/** Records whose last commit by a shortcut is known. Earlier ones count as committed just now. */
const MOST_COMMITTED = 5_000;

interface UnderWay {
  asked: AskedShortcut;
  drop: AbortController;
  /** Undefined until it has arrived; null when it could not be read. */
  answer: Page | null | undefined;
  /** Keys of records that were committed since it was requested. */
  overtaken: Set<string>;
  /** The commits of shortcuts that had been made when it was requested. */
  askedAfter: number;
  /** What the walk read then. */
  reading: Reading;
}

class ShortcutsBesideWalk implements WalkShortcuts {
  readonly #deps: SweepDeps;
  readonly #options: SweepOptions;
  readonly #shortcuts: NonNullable<RunOptions['shortcuts']>;
  readonly #underWay = new Set<UnderWay>();
  #commits = 0;
  /** Records and the number of the commit that wrote them, the oldest first. */
  readonly #committedBy = new Map<unknown, number>();
  /** The commits up to this number are no longer all in `#committedBy`. */
  #forgotten = 0;

  constructor(deps: SweepDeps, options: SweepOptions, shortcuts: NonNullable<RunOptions['shortcuts']>) {
    this.#deps = deps;
    this.#options = options;
    this.#shortcuts = shortcuts;
  }

  async during(reading: Reading, position: WalkPosition): Promise<Checkpoint> {
    const { page, answer } = reading;
    let { checkpoint } = position;
    const walk = { isRead: false };
    const read = answer.catch(() => undefined).then(() => (walk.isRead = true));
    for (;;) {
      for (const one of [...this.#underWay]) {
        if (one.answer === undefined) continue;
        if (one.asked.shortcut.page === page) {
          await this.#passOn(one, one.answer, reading, position);
          continue;
        }
        this.#underWay.delete(one);
        checkpoint = await this.#commit(one, one.answer, { ...position, checkpoint });
      }
      for (const kind of ['tail', 'aimed'] as const) await this.#askFor(kind, reading);
      if (walk.isRead) return checkpoint;
      await this.#untilNext(read);
    }
  }

  watching(deps: SweepDeps): SweepDeps {
    const { store } = deps;
    const commit: typeof store.commit = async (list, step) => {
      this.#committed(step.writes.map(({ key }) => key));
      return await store.commit(list, step);
    };
    return { ...deps, store: { ...store, commit } };
  }

  found(page: number, events: readonly ChangeEvent[]): void {
    if (events.length > 0) this.#shortcuts.reader.walked({ page, events }, this.#deps.clock.now());
  }

  named(cursor: string, askedAtMs: number): void {
    this.#shortcuts.reader.named(cursor, askedAtMs);
  }

  commits(): number {
    return this.#commits;
  }

  hasOvertaken(ids: readonly unknown[], askedAfter: number): boolean {
    if (askedAfter === this.#commits) return false;
    return askedAfter < this.#forgotten || ids.some((id) => (this.#committedBy.get(id) ?? 0) > askedAfter);
  }

  close(): void {
    for (const { asked, drop } of this.#underWay) {
      drop.abort(new Error('The walk has ended.'));
      this.#shortcuts.reader.abandon(asked.shortcut, this.#deps.clock.now());
    }
    this.#underWay.clear();
  }

  /** Until the walk has its page, a shortcut has arrived, or one is due. */
  async #untilNext(read: Promise<unknown>): Promise<void> {
    const { clock } = this.#deps;
    const woken = new AbortController();
    const dueMs = this.#shortcuts.reader.dueMs(clock.now());
    const waits = [
      read,
      ...[...this.#underWay].filter((one) => one.answer === undefined).map((one) => one.asked.answer),
    ];
    if (Number.isFinite(dueMs)) {
      const ms = Math.max(LOOK_MS, dueMs - clock.now());
      waits.push(clock.sleep(ms, woken.signal).catch(() => undefined));
    }
    await Promise.race(waits);
    woken.abort(WOKEN);
  }

  /** It is not committed: that would make the walk's answer the older one. If the walk cannot take it, it is asked for again. */
  async #passOn(one: UnderWay, answer: Page | null, reading: Reading, { ahead }: WalkPosition): Promise<void> {
    const { asked, askedAfter } = one;
    const { shortcut, askedAtMs } = asked;
    const { reader } = this.#shortcuts;
    this.#underWay.delete(one);
    if (answer === null) await reader.done(shortcut, { outcome: 'failed' }, askedAtMs);
    else if (one.reading !== reading || shortcut.cursor !== reading.cursor)
      reader.abandon(shortcut, this.#deps.clock.now());
    else {
      ahead.supply(reading.page, { fetched: answer, askedAfter, askedAtMs });
      await reader.done(shortcut, { outcome: 'passed on' }, askedAtMs);
    }
  }

  async #commit(
    { asked, overtaken }: UnderWay,
    answer: Page | null,
    { ahead, stored: { state }, ...position }: WalkPosition,
  ): Promise<Checkpoint> {
    const { reader, store } = this.#shortcuts;
    const deps = { ...this.#deps, store: { ...this.#deps.store, ...store } };
    const taken = await commitAsked(deps, this.#options, { reader, asked, answer, overtaken, ...position, state });
    if (taken.outcome !== 'shown') return position.checkpoint;
    this.#wrote([...taken.created, ...taken.rewritten]);
    if (taken.rewritten.length > 0) ahead.forget(asked.shortcut.page);
    return { ...position.checkpoint, counts: withShortcut(position.checkpoint.counts, taken.counts) };
  }

  /** One of a kind at a time: more would wait for the budget longer, and records that are named later would wait behind them. */
  async #askFor(kind: ShortcutPage['kind'], reading: Reading): Promise<void> {
    if ([...this.#underWay].some(({ asked }) => asked.shortcut.kind === kind)) return;
    const shortcut = await this.#shortcuts.reader.next(kind, this.#deps.clock.now());
    if (shortcut === null) return;
    // The walk is at this page: its cursor is the newer one, and it takes the answer.
    if (shortcut.page === reading.page) shortcut.cursor = reading.cursor;
    this.#ask(shortcut, reading);
  }

  #ask(shortcut: ShortcutPage, reading: Reading): void {
    const drop = new AbortController();
    const { signal: stopped } = this.#options;
    const signal = stopped === undefined ? drop.signal : AbortSignal.any([stopped, drop.signal]);
    const asked = askShortcut(this.#deps, { ...this.#options, signal }, shortcut);
    const one: UnderWay = { asked, drop, answer: undefined, overtaken: new Set(), askedAfter: this.#commits, reading };
    this.#underWay.add(one);
    void asked.answer.then((answer) => (one.answer = answer));
  }

  #wrote(keys: readonly string[]): void {
    this.#committed(keys);
    if (keys.length === 0) return;
    this.#commits += 1;
    for (const key of keys) {
      this.#committedBy.delete(key);
      this.#committedBy.set(key, this.#commits);
    }
    for (const [key, commit] of this.#committedBy) {
      if (this.#committedBy.size <= MOST_COMMITTED) break;
      this.#committedBy.delete(key);
      this.#forgotten = commit;
    }
  }

  #committed(keys: readonly string[]): void {
    for (const { overtaken } of this.#underWay) for (const key of keys) overtaken.add(key);
  }
}
