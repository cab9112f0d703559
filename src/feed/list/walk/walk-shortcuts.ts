/** Shortcuts are requested along with the walk's pages, and committed while it waits: one commit at a time. */
import { OVER } from '../../../kit/on-abort.js';
import type { SweepMemory } from '../memory.js';
import type { SweepDeps, SweepOptions } from '../options.js';
import type { Shortcuts, WalkedPage } from '../shortcuts/shortcuts.js';
import { askShortcut, takeAnswer, type ArrivedShortcut, type AskedShortcut } from '../shortcuts/take-shortcut.js';
import type { Checkpoint, FencingToken, StoredSweep } from '../../store/sweep-state.js';
import type { ReadAhead } from './read-ahead.js';

export interface RunOptions extends SweepOptions {
  /** @defaultValue none are used */
  shortcuts?: Shortcuts | undefined;
}

export interface WalkPosition {
  checkpoint: Checkpoint;
  token: FencingToken;
  memory: SweepMemory;
  stored: StoredSweep;
  ahead: ReadAhead;
}

export interface WalkShortcuts {
  /** Until the walk's page is read, requests the due shortcuts, and commits those that arrive. */
  during(answer: Promise<unknown>, position: WalkPosition): Promise<Checkpoint>;
  /** By the walk itself. @returns how many of the new records the next poll of an end would have found */
  found(walked: WalkedPage): number;
  /** Drops the requests under way. The records they were for are looked for later. */
  close(): void;
}

/** How long to wait before looking again, at least: a shortcut may be due for which nothing can be done yet. */
const LOOK_MS = 200;

export async function beginShortcuts(
  deps: SweepDeps,
  options: RunOptions,
  { state }: StoredSweep,
): Promise<WalkShortcuts> {
  const { shortcuts } = options;
  if (shortcuts === undefined) return NONE;
  await shortcuts.begin(state, deps.clock.monotonic());
  return new ShortcutsBesideWalk(deps, options, shortcuts);
}

const NONE: WalkShortcuts = {
  during: (_, { checkpoint }) => Promise.resolve(checkpoint),
  found: () => 0,
  close: () => undefined,
};

/** With more under way, records named later would wait behind those named before. */
const AT_ONCE = 2;

interface UnderWay {
  asked: AskedShortcut;
  drop: AbortController;
  /** Undefined until it has arrived. */
  answer: ArrivedShortcut | undefined;
}

class ShortcutsBesideWalk implements WalkShortcuts {
  readonly #deps: SweepDeps;
  readonly #options: SweepOptions;
  readonly #reader: Shortcuts;
  readonly #underWay = new Set<UnderWay>();

  constructor(deps: SweepDeps, options: SweepOptions, reader: Shortcuts) {
    this.#deps = deps;
    this.#options = options;
    this.#reader = reader;
  }

  async during(answer: Promise<unknown>, position: WalkPosition): Promise<Checkpoint> {
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

  found(walked: WalkedPage): number {
    return this.#reader.walked(walked, this.#deps.clock.monotonic());
  }

  close(): void {
    for (const { asked, drop } of this.#underWay) {
      drop.abort(new Error('The walk has ended.'));
      this.#reader.abandon(asked.shortcut);
    }
    this.#underWay.clear();
  }

  async #untilNext(read: Promise<unknown>): Promise<void> {
    const { clock } = this.#deps;
    const woken = new AbortController();
    const dueMs = this.#reader.dueMs(clock.monotonic());
    const waits = [
      read,
      ...[...this.#underWay].filter((one) => one.answer === undefined).map((one) => one.asked.answer),
    ];
    if (Number.isFinite(dueMs)) {
      const ms = Math.max(LOOK_MS, dueMs - clock.monotonic());
      waits.push(clock.sleep(ms, woken.signal).catch(() => undefined));
    }
    await Promise.race(waits);
    woken.abort(OVER);
  }

  async #commit(
    { asked }: UnderWay,
    answer: ArrivedShortcut,
    { token, checkpoint, memory, ahead, stored: { state } }: WalkPosition,
  ): Promise<Checkpoint> {
    const position = { token, state, checkpoint, memory };
    const taken = await takeAnswer(this.#deps, this.#options, { reader: this.#reader, asked, answer, position });
    if (taken === null) return checkpoint;
    if (taken.rewritten.length > 0) ahead.forget(asked.shortcut.page);
    const { counts, created, rewritten } = taken;
    return { ...checkpoint, counts, byShortcuts: (checkpoint.byShortcuts ?? 0) + created.length + rewritten.length };
  }

  /** False when no page is worth a request now. */
  async #askForNext(): Promise<boolean> {
    const shortcut = await this.#reader.next(this.#deps.clock.monotonic());
    if (shortcut === null) return false;
    const drop = new AbortController();
    const { signal: stopped } = this.#options;
    const signal = stopped === undefined ? drop.signal : AbortSignal.any([stopped, drop.signal]);
    const asked = askShortcut(this.#deps, { ...this.#options, signal }, shortcut);
    const one: UnderWay = { asked, drop, answer: undefined };
    this.#underWay.add(one);
    void asked.answer.then((answer) => (one.answer = answer));
    return true;
  }
}
