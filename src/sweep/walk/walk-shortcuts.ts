/**
 * How a walk uses the shortcuts of its list. Their pages are requested at the same time as those of the walk, so that neither waits for the
 * other's requests, and committed while the walk waits for its next page, so that only one of them commits at a time.
 */
import type { Page } from '../../api/read-api.js';
import { expectCommitted } from '../errors.js';
import type { SweepDeps, SweepOptions } from '../options.js';
import type { ReadAhead } from './read-ahead.js';
import { withShortcut } from '../shortcuts/commit-shortcut.js';
import type { ShortcutPage } from '../shortcuts/shortcut-page.js';
import type { Shortcuts, WalkedPage } from '../shortcuts/shortcuts.js';
import type { ShortcutStore } from '../shortcuts/store.js';
import { askShortcut, commitAsked, type AskedShortcut } from '../shortcuts/take-shortcut.js';
import type { SweepMemory } from './start-sweep.js';
import type { Checkpoint, FencingToken, StoredSweep } from '../store.js';

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
  ahead: Pick<ReadAhead, 'forget'>;
}

/** The page that the walk reads. */
interface Reading {
  page: number;
  cursor: string | null;
  answer: Promise<unknown>;
}

export interface WalkShortcuts {
  /** Until the page of the walk is read, requests the pages of shortcuts that are due, and commits those that arrive. */
  during(reading: Reading, position: WalkPosition): Promise<Checkpoint>;
  /** What the walk itself found on a page. */
  found(walked: WalkedPage): void;
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
  during: (_, { checkpoint }) => Promise.resolve(checkpoint),
  found: () => undefined,
  close: () => undefined,
};

/** Pages of shortcuts under way. With more, records that are named later would wait behind those that were named before. */
const AT_ONCE = 2;

/** Made once: an abort without a reason makes an exception with a stack. */
const WOKEN = new Error('The wait is over.');

interface UnderWay {
  asked: AskedShortcut;
  drop: AbortController;
  /** Undefined until it has arrived; null when it could not be read. */
  answer: Page | null | undefined;
}

class ShortcutsBesideWalk implements WalkShortcuts {
  readonly #deps: SweepDeps;
  readonly #options: SweepOptions;
  readonly #shortcuts: NonNullable<RunOptions['shortcuts']>;
  readonly #underWay = new Set<UnderWay>();

  constructor(deps: SweepDeps, options: SweepOptions, shortcuts: NonNullable<RunOptions['shortcuts']>) {
    this.#deps = deps;
    this.#options = options;
    this.#shortcuts = shortcuts;
  }

  async during({ answer }: Reading, position: WalkPosition): Promise<Checkpoint> {
    let { checkpoint } = position;
    const walk = { isRead: false };
    const read = answer.catch(() => undefined).then(() => (walk.isRead = true));
    for (;;) {
      for (const one of [...this.#underWay]) {
        if (one.answer === undefined) continue;
        this.#underWay.delete(one);
        checkpoint = await this.#commit(one, one.answer, { ...position, checkpoint });
      }
      while (this.#underWay.size < AT_ONCE && (await this.#askForNext()));
      if (walk.isRead) return checkpoint;
      await this.#untilNext(read);
    }
  }

  found(walked: WalkedPage): void {
    if (walked.events.length > 0) this.#shortcuts.reader.walked(walked, this.#deps.clock.now());
  }

  close(): void {
    for (const { asked, drop } of this.#underWay) {
      drop.abort(new Error('The walk has ended.'));
      this.#shortcuts.reader.abandon(asked.shortcut);
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

  async #commit(
    { asked }: UnderWay,
    answer: Page | null,
    { ahead, stored: { state }, ...position }: WalkPosition,
  ): Promise<Checkpoint> {
    const { reader, store } = this.#shortcuts;
    const deps = { ...this.#deps, store: { ...this.#deps.store, ...store } };
    const taken = await commitAsked(deps, this.#options, { reader, asked, answer, ...position, state });
    if (taken.outcome !== 'shown') return position.checkpoint;
    if (taken.rewritten.length > 0) ahead.forget(asked.shortcut.page);
    return { ...position.checkpoint, counts: withShortcut(position.checkpoint.counts, taken.counts) };
  }

  /** False when no page is worth a request now. */
  async #askForNext(): Promise<boolean> {
    const shortcut = await this.#shortcuts.reader.next(this.#deps.clock.now());
    if (shortcut === null) return false;
    this.#ask(shortcut);
    return true;
  }

  #ask(shortcut: ShortcutPage): void {
    const drop = new AbortController();
    const { signal: stopped } = this.#options;
    const signal = stopped === undefined ? drop.signal : AbortSignal.any([stopped, drop.signal]);
    const asked = askShortcut(this.#deps, { ...this.#options, signal }, shortcut);
    const one: UnderWay = { asked, drop, answer: undefined };
    this.#underWay.add(one);
    void asked.answer.then((answer) => (one.answer = answer));
  }
}
