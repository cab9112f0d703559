/** One shortcut: requests its page, commits what it may, and notes what it was worth. */
import type { Page } from '../../api/read-api.js';
import { messageOf } from '../../../kit/errors.js';
import { OVER } from '../../../kit/on-abort.js';
import type { SweepDeps, SweepOptions } from '../options.js';
import { commitShortcut, type ListPosition, type ShownPage } from './commit-shortcut.js';
import type { ShortcutPage } from './plan.js';
import type { Shortcuts } from './shortcuts.js';

export interface AskedShortcut {
  readonly shortcut: ShortcutPage;
  /** When the budget granted it, or until then when it was asked for; ms since the epoch. */
  readonly askedAtMs: number;
  /** The same by the monotonic clock. */
  readonly askedMs: number;
  /** Never rejects. */
  readonly answer: Promise<ArrivedShortcut>;
}

/** Null: unreadable, and the walk reports why. `not sent`: the budget did not grant it in time. */
export type ArrivedShortcut = Page | null | 'not sent';

/** After this wait for the budget it is given back: another page may be worth more by then. */
const PATIENCE_MS = 1_000;

export function askShortcut(
  { api, clock, log, workspace }: SweepDeps,
  { list, signal }: SweepOptions,
  shortcut: ShortcutPage,
): AskedShortcut {
  const { cursor, page, value } = shortcut;
  const kind = shortcut.kind === 'last' || shortcut.kind === 'first' ? 'tail' : 'aimed';
  const [granted, late] = [new AbortController(), new AbortController()];
  clock.sleep(PATIENCE_MS, granted.signal).then(
    () => late.abort(OVER),
    () => undefined,
  );
  const asked = { shortcut, askedAtMs: clock.now(), askedMs: clock.monotonic() };
  const onGrant = (): void => {
    [asked.askedAtMs, asked.askedMs] = [clock.now(), clock.monotonic()];
    granted.abort(OVER);
  };
  const within = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
  const answer = api
    .fetchPage(list, { cursor, page, kind, value, signal: within, onGrant })
    .catch((error: unknown) => {
      if (late.signal.aborted) return 'not sent';
      if (signal?.aborted !== true)
        log.debug({ workspace, list, page, kind, error: messageOf(error) }, 'shortcut failed');
      return null;
    })
    .finally(() => granted.abort(OVER));
  return Object.assign(asked, { answer });
}

/** What a shortcut has changed for the walk under way; null when nothing of its page was committed. */
export type TakenShortcut = Pick<ShownPage, 'counts' | 'created' | 'rewritten'> | null;

/** @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST */
export async function takeAnswer(
  deps: SweepDeps,
  options: SweepOptions,
  {
    reader,
    asked,
    answer,
    position,
  }: { reader: Shortcuts; asked: AskedShortcut; answer: ArrivedShortcut; position: ListPosition },
): Promise<TakenShortcut> {
  const { shortcut, askedAtMs, askedMs } = asked;
  if (answer === 'not sent') {
    reader.abandon(shortcut);
    return null;
  }
  if (answer === null) {
    await reader.done(shortcut, { outcome: 'failed' }, askedMs);
    return null;
  }
  const read = { ...position, shortcut, askedAtMs, answer, isLive: reader.isLive() };
  const result = await commitShortcut(deps, options, read);
  await reader.done(shortcut, result, askedMs);
  if (result.outcome === 'shown') return result;
  const { page, kind } = shortcut;
  deps.log.debug({ workspace: deps.workspace, list: options.list, page, kind, why: result.why }, 'shortcut dropped');
  return null;
}

/** Only while no walk is under way. @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST; the signal's reason */
export async function takeDueShortcut(
  deps: SweepDeps,
  options: SweepOptions,
  { reader, position }: { reader: Shortcuts; position: ListPosition },
): Promise<void> {
  const shortcut = await reader.next(deps.clock.monotonic());
  if (shortcut === null) return;
  const asked = askShortcut(deps, options, shortcut);
  const answer = await asked.answer;
  options.signal?.throwIfAborted();
  await takeAnswer(deps, options, { reader, asked, answer, position });
}
