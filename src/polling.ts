/** Sweeps on a schedule, and beside them the times at which todos are due: put together for a process. */
import type { Redis } from 'ioredis';
import type { ListName } from './events/lists.js';
import type { Part } from './runtime/lifecycle.js';
import { createTodoStore } from './state/todo-store.js';
import { createPoller } from './sweep/poller.js';
import { createSweeper, todoWatchOf, type Sweeper, type SweeperDeps } from './sweeper.js';
import { reportTodos, type ReportedWorkspace, type TodosCall, type TodosReport } from './todos/reports.js';
import { createTodoMonitor, type MonitoredWorkspace } from './todos/monitor.js';

export interface PollingDeps extends Omit<SweeperDeps, 'onSwept'> {
  connect: () => Redis;
}

export interface Polling {
  sweeper: Sweeper;
  /** The role `poll`. */
  part: Part;
  todos(call?: TodosCall): Promise<TodosReport>;
}

export function createPolling(deps: PollingDeps): Polling {
  const { config, keys, connect, log } = deps;
  const watched = monitored(deps);
  const monitor = createTodoMonitor({
    ...deps,
    workspaces: watched,
    look: (workspace, signal) => sweeper.tick(workspace, 'todo', signal),
  });
  const onSwept = async (workspace: string, list: ListName): Promise<void> => {
    // Without a timer's process, too: `changefeed sweep` alone tells of what has come due.
    if (list === 'todo') await monitor.swept(workspace);
  };
  const sweeper = createSweeper({ ...deps, onSwept });
  const workspaces = config.workspaces.map(({ name, lists }) => ({
    name,
    queuePrefix: keys.sweepQueuePrefix(name),
    lists: sweeper.enabledLists(lists),
  }));
  const poller = createPoller({ workspaces, connect, sweep: (...tick) => sweeper.tick(...tick), log });
  return {
    sweeper,
    todos: (call = {}) => reportTodos(watched, call, deps.clock),
    part: {
      name: 'poller',
      async start() {
        await monitor.start();
        await poller.start();
      },
      async stop() {
        await Promise.all([poller.stop(), monitor.stop()]);
      },
    },
  };
}

function monitored({ config, redis, keys }: PollingDeps): (MonitoredWorkspace & ReportedWorkspace)[] {
  return config.workspaces.map((workspace) => ({
    name: workspace.name,
    queuePrefix: keys.sweepQueuePrefix(workspace.name),
    timeZone: workspace.timeZone,
    watch: todoWatchOf(workspace),
    store: createTodoStore(redis, keys, workspace.name),
  }));
}
