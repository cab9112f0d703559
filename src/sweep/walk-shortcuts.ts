/** How a walk uses the shortcuts of its list: before each page, and with what it finds itself. */
import { expectCommitted } from './errors.js';
import type { SweepDeps, SweepOptions } from './options.js';
import type { ReadAhead } from './read-ahead.js';
import { withShortcut } from './shortcuts/commit-shortcut.js';
import type { Shortcuts } from './shortcuts/shortcuts.js';
import type { ShortcutStore } from './shortcuts/store.js';
import { takeShortcut } from './shortcuts/take-shortcut.js';
import type { SweepMemory } from './start-sweep.js';
import type { Checkpoint, FencingToken, PageCommit, StoredSweep } from './store.js';

/** With the list's shortcuts, which are used between the pages of the walk. */
export interface RunOptions extends SweepOptions {
  /** @defaultValue none are used */
  shortcuts?: { reader: Shortcuts; store: ShortcutStore } | undefined;
}

interface WalkPosition {
  checkpoint: Checkpoint;
  token: FencingToken;
  memory: SweepMemory;
  stored: StoredSweep;
  ahead: Pick<ReadAhead, 'forget'>;
}

export async function beginShortcuts(
  { clock }: SweepDeps,
  { list, shortcuts }: RunOptions,
  { token, stored, started }: { token: FencingToken; stored: StoredSweep; started: Checkpoint },
): Promise<void> {
  if (shortcuts === undefined) return;
  if (started.sweepId !== stored.checkpoint?.sweepId)
    expectCommitted(list, await shortcuts.store.beginWalk(list, token));
  await shortcuts.reader.begin(stored.state, clock.now());
}

/** At most one before each page of the walk, so that neither keeps the other waiting. */
export async function readShortcut(
  deps: SweepDeps,
  options: RunOptions,
  { checkpoint, token, memory, stored, ahead }: WalkPosition,
): Promise<Checkpoint> {
  const { shortcuts } = options;
  if (shortcuts === undefined) return checkpoint;
  const taken = await takeShortcut({ ...deps, store: { ...deps.store, ...shortcuts.store } }, options, {
    shortcuts: shortcuts.reader,
    position: { token, state: stored.state, checkpoint, memory },
  });
  if (taken.outcome !== 'shown') return checkpoint;
  if (taken.rewritten.length > 0) ahead.forget(taken.page);
  return { ...checkpoint, counts: withShortcut(checkpoint.counts, taken.counts) };
}

export function noteFound(
  { clock }: SweepDeps,
  { shortcuts }: RunOptions,
  { page, changes }: { page: number; changes: Pick<PageCommit, 'writes'> },
): void {
  const events = changes.writes.flatMap(({ event }) => (event === null ? [] : [event]));
  if (events.length > 0) shortcuts?.reader.walked({ page, events }, clock.now());
}
