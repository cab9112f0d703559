/**
 * The todo monitor of all workspaces. After each sweep of todos it emits what has come due; and it says when the list is to be
 * swept next for the sake of a due time, before its interval is over.
 */
import { messageOf } from '../errors.js';
import type { TodoWatch } from '../detect/rules.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { fireDue } from './fire.js';
import { rebuildTimers } from './rebuild.js';
import type { TodoStore } from './store.js';
import { lookAt } from './timing.js';

export interface MonitoredWorkspace {
  name: string;
  /** Null: its todos are not watched. */
  watch: TodoWatch | null;
  store: TodoStore;
}

export interface MonitorOptions {
  /** The workspace as it is configured now; undefined when there is none of that name. */
  workspace: (name: string) => MonitoredWorkspace | undefined;
  clock: Clock;
  log: Log;
}

export interface TodoMonitor {
  /** The workspace's todos have been swept. A failure here is logged; the next sweep emits what this one could not. */
  swept(workspace: string): Promise<void>;
  /** When the next due time asks for a sweep, in ms since the epoch; null when none does. */
  wakeMs(workspace: string): Promise<number | null>;
}

export function createTodoMonitor({ workspace: named, clock, log }: MonitorOptions): TodoMonitor {
  const afterSweep = async ({ name, store, watch }: MonitoredWorkspace): Promise<void> => {
    // Before every look: the timers go with the state, and the state may have been lost.
    await rebuildTimers(store, watch, clock);
    if (watch === null) return;
    const events = await fireDue({ workspace: name, store, dueSoonMs: watch.dueSoonMs, clock });
    if (events > 0) log.info({ workspace: name, events }, 'todos have come due');
  };
  return {
    async swept(name) {
      const workspace = named(name);
      if (workspace === undefined) return;
      try {
        await afterSweep(workspace);
      } catch (error) {
        log.error(
          { workspace: name, error: messageOf(error) },
          'due todos were not emitted; the next sweep emits them',
        );
      }
    },
    async wakeMs(name) {
      const workspace = named(name);
      if (workspace === undefined || workspace.watch === null) return null;
      const last = await workspace.store.lastLook();
      const next = last === null ? null : await workspace.store.nextAfter(Date.parse(last.startedAt));
      return last === null || next === null ? null : lookAt(next, last);
    },
  };
}
