/**
 * Takes over the book of workspaces while the service runs: what a workspace that came, changed or went needs is opened and closed, and no other
 * one notices. A command reads the book once, when it opens.
 */
import { parseWorkspace } from '../config/workspace.js';
import type { WorkspaceConfig } from '../config/schema.js';
import { isoTime, withinTime } from '../kit/clock.js';
import { messageOf } from '../kit/errors.js';
import type { Part } from '../kit/lifecycle.js';
import type { Log } from '../kit/log.js';
import { runLoop } from '../kit/loop.js';
import { createSteps } from '../kit/steps.js';
import type { BookPage, WorkspaceEntry } from '../ops/workspaces/book.js';
import type { AppContext } from '../../workers/context.js';
import type { Workspace, Workspaces, PollingState } from '../../workers/workspaces.js';
import type { Refused } from './running-rules.js';

const READ_INTERVAL_MS = 500;
/** A sweep that does not end may hold up the end of its workspace for longer. */
const AWAITED_MS = 2_000;

interface RunningWorkspacesDeps {
  workspaces: Workspaces;
  poller: { add(workspace: Workspace): void; remove(name: string): Promise<void> };
  dispatcher: {
    addWorkspace(name: string, readAtMs: number): Promise<void>;
    removeWorkspace(name: string): Promise<void>;
  };
}

export type RunningWorkspaces = ReturnType<typeof runningWorkspaces>;

export function runningWorkspaces(context: AppContext, deps: RunningWorkspacesDeps) {
  const { book, keyring, watch, log, clock, loops } = context;
  const stopping = new AbortController();
  const refusals = createRefusals(context);
  const { steps, taken, takeOver, drop } = createTaking(context, deps, stopping.signal);
  let page: BookPage = { revision: null, entries: new Map() };
  let [takenOver, said]: [string | null, () => void] = [null, () => undefined];

  const lookOnce = async (): Promise<void> => {
    const revision = await book.revision();
    if (revision !== page.revision && (revision !== null || taken.size === 0)) {
      page = await book.readAll();
      for (const [name, { entry }] of page.entries) refusals.note(name, () => whyNot(context, name, entry, takeOver));
      for (const name of taken.keys()) if (!page.entries.has(name)) drop(name);
      refusals.keep((name) => page.entries.has(name));
      await sealAgain(context, page);
    }
    const { revision: read } = page;
    if (read !== takenOver)
      void steps.all().then(() => {
        if (page.revision !== read || read === takenOver) return;
        takenOver = read;
        said();
      });
    // What is absent is not empty: what ran goes on.
    refusals.note('', () => (revision === null && taken.size > 0 ? textOfGone(taken.size) : null));
  };
  let [running, looking]: [Promise<void> | undefined, Promise<void>] = [undefined, Promise.resolve()];
  /** One after the other: what was read before must not be taken over after what was read later. */
  const look = (): Promise<void> => (looking = looking.catch(() => undefined).then(lookOnce));
  return {
    name: 'workspaces',
    /** Without Redis, the service finds them later. */
    async refresh(): Promise<void> {
      if (keyring === null) return;
      await look().catch(unread(log));
      await steps.all();
    },
    start(): Promise<void> {
      const run = async (): Promise<number> => {
        await look();
        return READ_INTERVAL_MS;
      };
      const ready = (signal: AbortSignal): Promise<void> => watch.untilUsable(signal);
      const loop = { name: 'workspaces', run, ready, signal: stopping.signal, log, clock, loops };
      running = keyring === null ? undefined : runLoop(loop);
      return Promise.resolve();
    },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([running, steps.all()]);
    },
    /** This process takes over what was written, and waits for a while until it has. */
    async written(): Promise<void> {
      if (stopping.signal.aborted) return;
      await look();
      await withinTime(steps.all(), AWAITED_MS);
    },
    /** Those that are not as the book has them, and why. */
    refused: (): Refused | null => refusals.now(),
    whyNot: (name: string): string | null => refusals.of(name),
    /** The revision up to which everything is as the book has it. */
    takenOver: (): string | null => takenOver,
    onTakenOver: (call: () => void): void => void (said = call),
    /** As they were read last. */
    entries: (): BookPage['entries'] => page.entries,
  } satisfies Part & Record<string, unknown>;
}

/** Opens and closes what a workspace needs, one after the other for each. */
function createTaking(
  context: AppContext,
  { workspaces, poller, dispatcher }: RunningWorkspacesDeps,
  signal: AbortSignal,
) {
  const { config, guard, log, clock } = context;
  const steps = createSteps({ of: 'workspace', signal, log, clock });
  /** By name, as they were taken over. */
  const taken = new Map<string, string>();
  const replace = async (name: string, next: WorkspaceConfig, state: PollingState): Promise<void> => {
    const readAtMs = clock.monotonic();
    const before = workspaces.find(name);
    await poller.remove(name);
    const opened = workspaces.put(next, state);
    await before?.api.close();
    await dispatcher.addWorkspace(name, readAtMs);
    poller.add(opened);
    log.info({ workspace: name, state }, before ? 'a workspace has changed' : 'a workspace has come');
  };
  const drop = (name: string): void => {
    if (!taken.delete(name)) return;
    steps.add(name, async () => {
      await poller.remove(name);
      await dispatcher.removeWorkspace(name);
      await workspaces.remove(name);
      guard.forget(name);
      log.info({ workspace: name }, 'a workspace is gone');
    });
  };
  const takeOver = (name: string, entry: WorkspaceEntry): void => {
    const { state } = entry;
    if (state === 'erasing') {
      drop(name);
      return;
    }
    try {
      const wanted = wantedOf(context, name, entry);
      const form = JSON.stringify([wanted, state]);
      if (taken.get(name) === form) return;
      const others = config.workspaces.filter((one) => one.name !== name);
      const next = parseWorkspace(wanted, others);
      taken.set(name, form);
      steps.add(name, () => replace(name, next, state));
    } catch (error) {
      // What cannot be read any more goes on as it was, and is stopped all the same.
      const before = workspaces.find(name);
      if (before !== undefined && before.state !== state) steps.add(name, () => replace(name, before.config, state));
      throw error;
    }
  };
  return { steps, taken, takeOver, drop };
}

/** @throws ChangefeedError CF_TOKEN_SEALED */
function wantedOf({ keyring }: AppContext, name: string, { options, sealed }: WorkspaceEntry) {
  return { ...options, ...keyring?.open(sealed, { workspace: name, baseUrl: options.baseUrl }), name };
}

function whyNot(
  { ofFile }: AppContext,
  name: string,
  entry: WorkspaceEntry | null,
  takeOver: (name: string, entry: WorkspaceEntry) => void,
): string | null {
  if (entry === null)
    return `The workspace "${name}" cannot be read: it is damaged, or another release wrote it. Put it again.`;
  if (ofFile.has(name))
    return `The workspace "${name}" is in the configuration too, which counts. Remove it from one of both.`;
  try {
    takeOver(name, entry);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

function unread(log: Log): (error: unknown) => void {
  return (error) => log.warn({ error: messageOf(error) }, 'the book of workspaces was not read');
}

function textOfGone(count: number): string {
  return `The book of workspaces is gone from Redis: the ${count} that ran go on until this process ends. Put them again.`;
}

/** With the newest key, so that the one before it can be taken away. */
async function sealAgain({ book, keyring }: AppContext, { entries }: BookPage): Promise<void> {
  for (const [name, { entry }] of entries) {
    if (keyring === null || entry === null || keyring.isNewest(entry.sealed)) continue;
    const of = { workspace: name, baseUrl: entry.options.baseUrl };
    try {
      const sealed = keyring.seal(keyring.open(entry.sealed, of), of);
      await book.change(name, (now) => (now?.sealed === entry.sealed ? { ...now, sealed } : now));
    } catch {
      // It was said why it cannot be opened.
    }
  }
}

function createRefusals({ log, clock }: AppContext) {
  const refused = new Map<string, Refused>();
  return {
    of: (name: string): string | null => refused.get(name)?.error ?? null,
    keep(isThere: (name: string) => boolean): void {
      for (const name of refused.keys()) if (name !== '' && !isThere(name)) refused.delete(name);
    },
    note(name: string, why: () => string | null): void {
      const [error, before] = [why(), refused.get(name)];
      if (error === null) refused.delete(name);
      else if (error !== before?.error) {
        log.error({ ...(name !== '' && { workspace: name }), error }, 'a workspace was not taken over');
        refused.set(name, { error, since: before?.since ?? isoTime(clock.now()) });
      }
    },
    /** The first of them, and how many more. */
    now(): Refused | null {
      const [first] = refused.values();
      if (first === undefined) return null;
      const more = refused.size - 1;
      return more === 0 ? first : { ...first, error: `${first.error} (and ${more} more)` };
    },
  };
}
