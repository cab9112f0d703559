/** One shortcut of the loop that holds a list's lease: asks which page to read, reads it, commits it, and notes what it was worth. */
import type { FetchOptions, Page, ReadApi } from '../../api/read-api.js';
import { ChangefeedError, messageOf } from '../../errors.js';
import {
  commitShortcut,
  type ShortcutAnswer,
  type ShortcutDeps,
  type ShortcutOptions,
  type ShortcutPage,
  type ShownPage,
} from './commit-shortcut.js';
import type { Shortcuts } from './shortcuts.js';

export interface TakeDeps extends ShortcutDeps {
  api: {
    fetchPage: (
      list: Parameters<ReadApi['fetchPage']>[0],
      options: FetchOptions & Pick<ShortcutPage, 'kind'>,
    ) => Promise<Page>;
  };
}

export interface TakeOptions extends ShortcutOptions {
  signal?: AbortSignal | undefined;
}

/** Where the list stands: between two pages of a walk, or between two walks. */
export type TakePosition = Omit<ShortcutAnswer, 'shortcut' | 'answer' | 'askedAtMs'>;

export type TakenShortcut =
  /** No page is worth reading now: go on with the walk, or wait until `dueMs`. */
  | { outcome: 'none' }
  /** A page was read, and nothing of it was committed. */
  | { outcome: 'useless'; page: number }
  | ({ outcome: 'shown'; page: number } & ShownPage);

/**
 * @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST; the signal's reason. Other failures of a request are the walk's to report,
 *   which reads the same list.
 */
export async function takeShortcut(
  deps: TakeDeps,
  options: TakeOptions,
  { shortcuts, position }: { shortcuts: Shortcuts; position: TakePosition },
): Promise<TakenShortcut> {
  const { clock, log, workspace } = deps;
  const { list, signal } = options;
  const askedAtMs = clock.now();
  const shortcut = await shortcuts.next(askedAtMs);
  if (shortcut === null) return { outcome: 'none' };
  const { cursor, page, kind } = shortcut;
  let answer: Page;
  try {
    answer = await deps.api.fetchPage(list, { cursor, page, kind, ...(signal !== undefined && { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof ChangefeedError)) throw error;
    log.debug({ workspace, list, page, kind, error: messageOf(error) }, 'shortcut failed');
    await shortcuts.done(shortcut, { outcome: 'failed' }, askedAtMs);
    return { outcome: 'useless', page };
  }
  const result = await commitShortcut(deps, options, { ...position, shortcut, answer, askedAtMs });
  await shortcuts.done(shortcut, result, askedAtMs);
  if (result.outcome === 'shown') return { ...result, page };
  log.debug({ workspace, list, page, kind, why: result.why }, 'shortcut dropped');
  return { outcome: 'useless', page };
}
