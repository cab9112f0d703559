/** Erases everything of a workspace that was removed: one process, once no process works on it. */
import type { Changefeed } from '../actions/feed.js';
import { isoTime } from '../kit/clock.js';
import { ChangefeedError } from '../kit/errors.js';
import type { Part } from '../kit/lifecycle.js';
import { runLoop } from '../kit/loop.js';
import { createInvites } from '../ops/invites.js';
import type { WorkspaceEntry } from '../ops/workspaces/book.js';
import { createProcessRegistry } from '../redis/process-registry.js';
import type { AppContext } from '../../workers/context.js';
import type { RunningWorkspaces } from './running-workspaces.js';

export interface EraseDeps {
  running: RunningWorkspaces;
  forget: Changefeed['forget'];
}

/** A process that was killed counts as alive for 20 s. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 250;
const LOOKS_EVERY_MS = 1_000;
/** By then a process that erases has ended, or was killed. */
const ERASING_MS = 120_000;

function isToErase({ state, since, eraseAt = '9' }: WorkspaceEntry, nowMs: number): boolean {
  if (state === 'erasing') return Date.parse(since) + ERASING_MS < nowMs;
  return state === 'removed' && eraseAt <= isoTime(nowMs);
}

/** One process erases it, unless it was put back meanwhile. @throws ChangefeedError CF_WORKSPACE_BUSY */
async function eraseRemoved(
  name: string,
  context: AppContext,
  deps: EraseDeps & { signal: AbortSignal },
): Promise<void> {
  const { book, clock } = context;
  const claimedAt = isoTime(clock.now());
  const entry = await book.change(name, (before) =>
    before !== null && isToErase(before, clock.now()) ? { ...before, state: 'erasing', since: claimedAt } : before,
  );
  if (entry?.state === 'erasing' && entry.since === claimedAt) await eraseClaimed(name, context, deps);
}

/** Its entry goes last: a process that is killed meanwhile leaves the rest to another one. @returns how many keys there were */
export async function eraseClaimed(
  name: string,
  context: AppContext,
  { running, forget, signal }: EraseDeps & { signal?: AbortSignal },
): Promise<number> {
  const { book, redis, keys, clock, log } = context;
  await running.written();
  const registry = createProcessRegistry(redis, keys);
  const untilMs = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const [processes, revision] = await Promise.all([registry.list(), book.revision()]);
    // One that has not read the last change may begin to work on it, or go on.
    const busy = processes.filter(
      ({ book: read = revision, workspaces }) => read !== revision || workspaces.includes(name),
    );
    // A sweep of a process that was killed has its lease for some seconds.
    const erased = busy.length > 0 ? null : await forget(name).catch(unlessBusy);
    if (erased !== null) {
      // Who was invited to it must not see a later customer of this name.
      await revokeInvited(name, context);
      await book.change(name, () => null);
      const { keys: count, records, events } = erased;
      log.info({ workspace: name, keys: count, records, events }, 'everything of a removed workspace was erased');
      return count;
    }
    if (clock.monotonic() > untilMs) throw stillBusy(name, busy.length);
    await clock.sleep(LOOK_MS, signal);
  }
}

async function revokeInvited(workspace: string, context: AppContext): Promise<void> {
  const invites = createInvites(context);
  for (const one of await invites.read()) if (one.workspace === workspace) await invites.revoke(one.name);
}

function unlessBusy(error: unknown): null {
  if (error instanceof ChangefeedError && error.code === 'CF_WORKSPACE_BUSY') return null;
  throw error;
}

/** A part of each process that dispatches. */
export function erasingRemoved(context: AppContext, isOn: () => boolean, deps: EraseDeps): Part {
  const { watch, log, clock, loops } = context;
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> | undefined;
  const run = async (): Promise<number> => {
    const over = [...deps.running.entries()].filter(([, { entry }]) => entry !== null && isToErase(entry, clock.now()));
    for (const [name] of over) await eraseRemoved(name, context, { ...deps, signal });
    return LOOKS_EVERY_MS;
  };
  return {
    name: 'removed workspaces',
    start() {
      const ready = (within: AbortSignal): Promise<void> => watch.untilUsable(within);
      // It waits for other processes.
      const options = { name: 'removed workspaces', run, ready, signal, stallMs: null, log, clock, loops };
      if (isOn() && context.keyring !== null) running = runLoop(options);
      return Promise.resolve();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function stillBusy(workspace: string, processes: number): ChangefeedError {
  const message = `The workspace "${workspace}" is not erased yet: ${processes === 1 ? 'a process works' : `${processes} processes work`} on it still. It is erased as soon as they have let it go.`;
  return new ChangefeedError('CF_WORKSPACE_BUSY', { workspace, message });
}
