/** The roles of a process. They start in the reverse order of an event's way, so that a found one can be handled. */
import type { AppContext } from './context.js';
import type { Workspaces } from './workspaces.js';
import { createLifecycle, type Lifecycle, type Part } from '../src/kit/lifecycle.js';
import { dispatchRole } from './dispatch.js';
import { handleRole } from './handle.js';
import { pollRole } from './poll.js';
import { serveRole } from './serve.js';

/** Sweep lists, move events from the log to the queues, run handlers, serve the mirror (if configured). */
export const ROLES = ['poll', 'dispatch', 'handle', 'serve'] as const;
/** A part of the work that a process may have: `poll`, `dispatch`, `handle` or `serve`. */
export type Role = (typeof ROLES)[number];

export interface Progress {
  phase: 'starting' | 'running' | 'stopping';
  roles: readonly Role[];
}

/** @param around what starts before these roles and stops after them, and the other way round */
export function createWorkers(
  context: AppContext,
  workspaces: Workspaces,
  around: (wanted: readonly Role[]) => { before: readonly Part[]; after: readonly Part[] },
) {
  const dispatch = dispatchRole(context, workspaces);
  const parts = {
    poll: pollRole(context, workspaces),
    dispatch,
    handle: handleRole(context, workspaces, dispatch.dispatcher),
    serve: serveRole(context),
  };
  let progress: Progress = { phase: 'starting', roles: [] };
  let running: Lifecycle | undefined;
  let starting: Promise<void> | undefined;
  const start = async (roles: readonly Role[]): Promise<void> => {
    progress = { phase: 'starting', roles };
    const wanted = ROLES.toReversed().filter((role) => roles.includes(role));
    const { before, after } = around(wanted);
    running = createLifecycle([...before, ...wanted.map((role) => parts[role]), ...after]);
    await running.start();
    if (progress.phase === 'starting') progress = { phase: 'running', roles };
  };
  return {
    dispatch,
    handlers: parts.handle,
    poller: parts.poll,
    get progress(): Progress {
      return progress;
    },
    /** A second call waits for the first. */
    start: (wanted: readonly Role[]): Promise<void> => (starting ??= start(wanted)),
    async stop(): Promise<void> {
      progress = { ...progress, phase: 'stopping' };
      await running?.stop();
    },
  };
}
