/** One shortcut of the loop that holds a list's lease: requests its page, commits what it may, and notes what it was worth. */
import type { FetchOptions, Page, ReadApi } from '../../api/read-api.js';
import { messageOf } from '../../errors.js';
import { untraced, type SpanOptions, type Tracing } from '../../runtime/tracing.js';
import { commitShortcut, type ShownPage } from './commit-shortcut.js';
import type { ShortcutAnswer, ShortcutDeps, ShortcutOptions, ShortcutPage } from './shortcut-page.js';
import type { Shortcuts } from './shortcuts.js';

export interface TakeDeps extends ShortcutDeps {
  api: {
    fetchPage: (
      list: Parameters<ReadApi['fetchPage']>[0],
      options: FetchOptions & Pick<ShortcutPage, 'kind' | 'value'>,
    ) => Promise<Page>;
  };
  /** @defaultValue nothing is traced */
  tracing?: Tracing;
}

export interface TakeOptions extends ShortcutOptions {
  signal?: AbortSignal | undefined;
}

/** Where the list stands: between two pages of a walk, or between two walks. */
export type TakePosition = Omit<ShortcutAnswer, 'shortcut' | 'answer' | 'askedAtMs' | 'isLive'>;

/** `useless`: nothing of the page was committed. */
export type TakenShortcut = { outcome: 'useless'; page: number } | ({ outcome: 'shown'; page: number } & ShownPage);

/** A page that was requested. */
export interface AskedShortcut {
  shortcut: ShortcutPage;
  /** When, ms since the epoch. */
  askedAtMs: number;
  /** Null when it could not be read: the walk, which reads the same list, reports why. Never rejects. */
  answer: Promise<Page | null>;
}

export function askShortcut(
  { api, clock, log, workspace }: Pick<TakeDeps, 'api' | 'clock' | 'log' | 'workspace'>,
  { list, signal }: Pick<TakeOptions, 'list' | 'signal'>,
  shortcut: ShortcutPage,
): AskedShortcut {
  const { cursor, page, kind, value } = shortcut;
  const request = api.fetchPage(list, { cursor, page, kind, value, ...(signal !== undefined && { signal }) });
  const answer = request.catch((error: unknown) => {
    if (signal?.aborted !== true)
      log.debug({ workspace, list, page, kind, error: messageOf(error) }, 'shortcut failed');
    return null;
  });
  return { shortcut, askedAtMs: clock.now(), answer };
}

/**
 * Commits what the page may commit, and notes what the shortcut was worth.
 * @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST
 */
export async function commitAsked(
  deps: ShortcutDeps,
  options: ShortcutOptions,
  asked: TakePosition & { reader: Shortcuts; asked: AskedShortcut; answer: Page | null },
): Promise<TakenShortcut> {
  const { workspace, log } = deps;
  const {
    reader,
    answer,
    asked: { shortcut, askedAtMs },
    ...position
  } = asked;
  const { page, kind } = shortcut;
  if (answer === null) {
    await reader.done(shortcut, { outcome: 'failed' }, askedAtMs);
    return { outcome: 'useless', page };
  }
  const result = await commitShortcut(deps, options, {
    ...position,
    shortcut,
    answer,
    askedAtMs,
    isLive: reader.isLive(),
  });
  await reader.done(shortcut, result, askedAtMs);
  if (result.outcome === 'shown') return { ...result, page };
  log.debug({ workspace, list: options.list, page, kind, why: result.why }, 'shortcut dropped');
  return { outcome: 'useless', page };
}

/**
 * While no walk is under way: the shortcut that is most worth it, if any.
 * @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST; the signal's reason
 */
export async function takeDueShortcut(
  deps: TakeDeps,
  options: TakeOptions,
  { shortcuts: reader, position }: { shortcuts: Shortcuts; position: TakePosition },
): Promise<void> {
  const { tracing = untraced } = deps;
  const shortcut = await reader.next(deps.clock.now());
  if (shortcut === null) return;
  await tracing.span(
    () => shortcutSpan(deps, options),
    async () => {
      const asked = askShortcut(deps, options, shortcut);
      const answer = await asked.answer;
      options.signal?.throwIfAborted();
      await commitAsked(deps, options, { ...position, reader, asked, answer });
    },
  );
}

/** A trace of its own; its read names the page. During a walk, shortcuts belong to the sweep. */
function shortcutSpan({ workspace }: TakeDeps, { list, signal }: TakeOptions): SpanOptions {
  return {
    name: `shortcut ${list}`,
    parent: null,
    attributes: { 'changefeed.workspace': workspace, 'changefeed.list': list },
    interrupted: () => signal?.aborted === true,
  };
}
