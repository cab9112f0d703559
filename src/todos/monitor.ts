/**
 * The todo monitor of all workspaces: after each sweep it tells what has come due and sets the alarm for what comes next; when
 * the alarm rings, it has the list looked at.
 */
import type { Redis } from 'ioredis';
import { messageOf } from '../errors.js';
import type { TodoWatch } from '../detect/rules.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { createAlarm, type Alarm } from './alarm.js';
import { fireDue } from './fire.js';
import { rebuildTimers } from './rebuild.js';
import type { TodoStore } from './store.js';
import { lookAt } from './timing.js';

export interface MonitoredWorkspace {
  name: string;
  queuePrefix: string;
  /** Null: its todos are not watched. */
  watch: TodoWatch | null;
  store: TodoStore;
}

export interface MonitorOptions {
  workspaces: readonly MonitoredWorkspace[];
  /** Opens a connection made with `maxRetriesPerRequest: null`; the monitor closes it. */
  connect: () => Redis;
  /** One sweep of the workspace's todos; `swept` is called at its end. */
  look: (workspace: string, signal: AbortSignal) => Promise<void>;
  clock: Clock;
  log: Log;
}

export interface TodoMonitor {
  /** The workspace's todos have been swept, by whomever. What fails here is told by the next sweep. */
  swept(workspace: string): Promise<void>;
  /** Rings when todos are due. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createTodoMonitor({ workspaces, connect, look, clock, log }: MonitorOptions): TodoMonitor {
  const stopping = new AbortController();
  const alarms = new Map<string, Alarm>();
  const ready = new Map<string, Promise<void>>();
  let redis: Redis | undefined;

  const prepare = async ({ name, store, watch }: MonitoredWorkspace): Promise<void> => {
    const once = ready.get(name) ?? rebuildTimers(store, watch, clock);
    ready.set(name, once);
    once.catch(() => ready.delete(name));
    await once;
  };
  const arm = async ({ name, store }: MonitoredWorkspace): Promise<void> => {
    const last = await store.lastLook();
    const next = last === null ? null : await store.nextAfter(Date.parse(last.startedAt));
    if (last !== null && next !== null) await alarms.get(name)?.setFor(lookAt(next, last));
  };
  const ring = async (workspace: MonitoredWorkspace): Promise<void> => {
    const last = await workspace.store.lastLook();
    const next = last === null ? null : await workspace.store.nextAfter(Date.parse(last.startedAt));
    if (next === null || next > clock.now()) await arm(workspace);
    else await look(workspace.name, stopping.signal);
  };
  const afterSweep = async (workspace: MonitoredWorkspace): Promise<void> => {
    await prepare(workspace);
    const { name, store, watch } = workspace;
    if (watch === null) return;
    const events = await fireDue({ workspace: name, store, dueSoonMs: watch.dueSoonMs, clock });
    if (events > 0) log.info({ workspace: name, events }, 'todos have come due');
    await arm(workspace);
  };
  return {
    async swept(name) {
      const workspace = workspaces.find((one) => one.name === name);
      if (workspace === undefined) return;
      try {
        await afterSweep(workspace);
      } catch (error) {
        log.error({ workspace: name, error: messageOf(error) }, 'due todos could not be told; the next sweep tells');
      }
    },
    async start() {
      redis = connect();
      for (const workspace of workspaces) {
        await prepare(workspace);
        if (workspace.watch === null) continue;
        const { name, queuePrefix } = workspace;
        const options = { workspace: name, queuePrefix, redis, ring: () => ring(workspace), clock, log };
        alarms.set(name, createAlarm(options));
        await arm(workspace);
      }
    },
    async stop() {
      stopping.abort(new Error('The todo monitor is stopping.'));
      await Promise.all([...alarms.values()].map((alarm) => alarm.stop()));
      redis?.disconnect();
    },
  };
}
