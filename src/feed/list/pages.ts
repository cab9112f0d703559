/**
 * The answers of a list, one after the other: the next page of the walk, and the pages of shortcuts, which are requested along with
 * it and come first where they arrive first. While the list waits, only those. One answer is taken at a time.
 */
import { isUnchanged, type Page } from '../api/read-api.js';
import { OVER } from '../../kit/clock.js';
import { messageOf } from '../../kit/errors.js';
import { NOT_RECOGNISED, type StoredPage } from '../store/sweep-state.js';
import { orIncomplete } from './incomplete.js';
import type { FeedList } from './list.js';
import type { PageToRead, ReadPage } from './read-ahead.js';
import type { ShortcutPage } from './shortcuts/plan.js';

export type Answer = WalkAnswer | ShortcutAnswer;

export interface WalkAnswer {
  by: 'walk';
  /** Number of the page within the sweep, from 1. */
  number: number;
  cursor: string | null;
  /** Null: it has the bytes of `known`. */
  page: Page | null;
  /** The page with this cursor as the last complete sweep read it; null where it read none. */
  known: StoredPage | null;
  /** Ms since the epoch; null when the page is certainly younger than every stored record. */
  askedAtMs: number | null;
  nextCursor: string | null;
}

export interface ShortcutAnswer {
  by: 'shortcut';
  shortcut: ShortcutPage;
  /** Null: unreadable, and the walk reports why. `not sent`: the budget did not grant it in time. */
  page: Page | null | 'not sent';
  /** When the budget granted it, or else when it was asked for; ms since the epoch. */
  askedAtMs: number;
  /** The same by the monotonic clock. */
  askedMs: number;
}

/** Records named later would wait behind those named before if more were under way. */
const AT_ONCE = 2;
/** How long to wait before looking again, at least: a shortcut may be due for which nothing can be done yet. */
const LOOK_MS = 200;
/** After this wait for the budget it is given back: another page may be worth more by then. */
const PATIENCE_MS = 1_000;

/** The pages of a walk to its end, and of the surveys that interrupt it. */
export async function* pagesOfWalk(list: FeedList): AsyncGenerator<Answer> {
  const requests = new ShortcutRequests(list);
  try {
    for (;;) {
      const { next } = list;
      if (next === null) return;
      const reading = list.ahead.read(next);
      yield* requests.until(reading);
      yield await orIncomplete(list, async () => await walkAnswer(list, next, await reading));
    }
  } finally {
    list.ahead.close();
    requests.close();
  }
}

/** The pages of shortcuts until `untilMs` of the monotonic clock. No walk is under way. */
export async function* pagesOfShortcuts(list: FeedList, untilMs: number): AsyncGenerator<Answer> {
  const { clock } = list.deps;
  const { shortcuts, signal } = list.options;
  if (shortcuts === undefined) return;
  for (let nowMs = clock.monotonic(); nowMs < untilMs; nowMs = clock.monotonic()) {
    const waitMs = Math.min(shortcuts.dueMs(nowMs), untilMs) - nowMs;
    if (waitMs > 0) await clock.sleep(waitMs, signal);
    const shortcut = await shortcuts.next(clock.monotonic());
    if (shortcut === null) continue;
    const answer = await askForShortcut(list, shortcut, signal);
    signal.throwIfAborted();
    yield answer;
  }
}

async function walkAnswer(list: FeedList, { page: number, cursor }: PageToRead, read: ReadPage): Promise<WalkAnswer> {
  const { fetched, known } = read;
  const visited = list.survey?.visited ?? list.visited;
  const at = { by: 'walk', number, cursor, known } as const;
  if (isUnchanged(fetched) && known !== null && known.digest !== NOT_RECOGNISED && list.skips) {
    const nextCursor = visited.checkKnown(list.name, known);
    return { ...at, page: null, askedAtMs: read.askedAtMs, nextCursor };
  }
  const { signal } = list.options;
  const isRead = !isUnchanged(fetched);
  const page = isRead ? fetched : await list.deps.api.fetchPage(list.name, { cursor, page: number, signal });
  const nextCursor = visited.check(page, cursor);
  if (nextCursor !== null && list.survey === null) list.ahead.expect({ page: number + 1, cursor: nextCursor });
  return { ...at, page, askedAtMs: isRead ? read.askedAtMs : null, nextCursor };
}

interface UnderWay {
  shortcut: ShortcutPage;
  drop: AbortController;
  asking: Promise<unknown>;
  /** Undefined until it has arrived. */
  answer?: ShortcutAnswer;
}

/** The shortcuts that are requested along with the pages of a walk. */
class ShortcutRequests {
  readonly #list: FeedList;
  readonly #underWay = new Set<UnderWay>();

  constructor(list: FeedList) {
    this.#list = list;
  }

  /** The answers that arrive until the page of the walk is read. */
  async *until(reading: Promise<unknown>): AsyncGenerator<ShortcutAnswer> {
    const walk = { isRead: false };
    const read = reading.catch(() => undefined).then(() => (walk.isRead = true));
    if (this.#list.options.shortcuts === undefined) return;
    for (;;) {
      for (const request of [...this.#underWay]) {
        if (request.answer === undefined) continue;
        this.#underWay.delete(request);
        yield request.answer;
      }
      while (this.#underWay.size < AT_ONCE && (await this.#askForNext()));
      if (walk.isRead) return;
      await this.#untilNext(read);
    }
  }

  /** Drops the requests under way. The records they were for are looked for later. */
  close(): void {
    for (const { shortcut, drop } of this.#underWay) {
      drop.abort(new Error('The walk has ended.'));
      this.#list.options.shortcuts?.abandon(shortcut);
    }
    this.#underWay.clear();
  }

  async #untilNext(read: Promise<unknown>): Promise<void> {
    const { clock } = this.#list.deps;
    const woken = new AbortController();
    const dueMs = this.#list.options.shortcuts?.dueMs(clock.monotonic()) ?? Infinity;
    const asking = [...this.#underWay].filter(({ answer }) => answer === undefined).map((one) => one.asking);
    const waits = [read, ...asking];
    if (Number.isFinite(dueMs)) {
      const ms = Math.max(LOOK_MS, dueMs - clock.monotonic());
      waits.push(clock.sleep(ms, woken.signal).catch(() => undefined));
    }
    await Promise.race(waits);
    woken.abort(OVER);
  }

  /** False when no page is worth a request now. */
  async #askForNext(): Promise<boolean> {
    const list = this.#list;
    const shortcut = await list.options.shortcuts?.next(list.deps.clock.monotonic());
    if (shortcut == null) return false;
    const drop = new AbortController();
    const asking = askForShortcut(list, shortcut, AbortSignal.any([list.options.signal, drop.signal]));
    const request: UnderWay = { shortcut, drop, asking };
    this.#underWay.add(request);
    void asking.then((answer) => (request.answer = answer));
    return true;
  }
}

/** Never rejects. */
export async function askForShortcut(
  { name, deps: { api, clock, log, workspace } }: Pick<FeedList, 'name' | 'deps'>,
  shortcut: ShortcutPage,
  signal: AbortSignal,
): Promise<ShortcutAnswer> {
  const { cursor, page, value } = shortcut;
  const kind = shortcut.kind === 'last' || shortcut.kind === 'first' ? 'tail' : 'aimed';
  const [granted, late] = [new AbortController(), new AbortController()];
  clock.sleep(PATIENCE_MS, granted.signal).then(
    () => late.abort(OVER),
    () => undefined,
  );
  let [askedAtMs, askedMs] = [clock.now(), clock.monotonic()];
  const onGrant = (): void => {
    [askedAtMs, askedMs] = [clock.now(), clock.monotonic()];
    granted.abort(OVER);
  };
  const within = AbortSignal.any([signal, late.signal]);
  const answered = (answer: ShortcutAnswer['page']): ShortcutAnswer => {
    granted.abort(OVER);
    return { by: 'shortcut', shortcut, page: answer, askedAtMs, askedMs };
  };
  try {
    return answered(await api.fetchPage(name, { cursor, page, kind, value, signal: within, onGrant }));
  } catch (error) {
    if (late.signal.aborted) return answered('not sent');
    const facts = { workspace, list: name, page, kind, error: messageOf(error) };
    if (!signal.aborted) log.debug(facts, 'shortcut failed');
    return answered(null);
  }
}
