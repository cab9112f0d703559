/** The role `poll`: lists swept when they are due, todos among them when one of them comes due. Put together for a process. */
import type { WorkspaceConfig } from '../../config/schema.js';
import type { ListName } from '../../events/lists.js';
import type { House } from '../context.js';
import type { Part } from '../../runtime/lifecycle.js';
import type { LoopBoard } from '../../runtime/loop.js';
import { createTodoStore } from '../../state/todo-store.js';
import { createPoller, type PolledList } from '../../sweep/poller.js';
import { createSweeper, todoWatchOf, type Sweeper, type SweeperDeps } from '../sweeper.js';
import { createTodoMonitor, type MonitoredWorkspace } from '../../todos/monitor.js';
import { reportTodos, type ReportedWorkspace, type TodosCall, type TodosReport } from '../../todos/reports.js';

export interface PollingDeps extends Omit<SweeperDeps, 'onSwept'>, Pick<House, 'current'> {
  loops: LoopBoard;
}

export interface Polling {
  sweeper: Sweeper;
  /** The role `poll`. */
  part: Part;
  todos(call?: TodosCall): Promise<TodosReport>;
  /** From here on the workspace of that name is polled with these options. */
  apply(workspace: WorkspaceConfig): Promise<void>;
}

export function createPolling(deps: PollingDeps): Polling {
  const { current, log, clock, loops } = deps;
  const monitor = createTodoMonitor({
    ...deps,
    workspace: (name) => monitored(deps).find((workspace) => workspace.name === name),
  });
  const onSwept = async (workspace: string, list: ListName): Promise<void> => {
    // Also after `changefeed sweep`, which runs no loop: it emits what has come due.
    if (list === 'todo') await monitor.swept(workspace);
  };
  const sweeper = createSweeper({ ...deps, onSwept });
  const listsOf = ({ name, lists }: WorkspaceConfig): PolledList[] =>
    sweeper.enabledLists(lists).map((list) => ({ workspace: name, list }));
  const poller = createPoller({
    lists: current.workspaces.flatMap(listsOf),
    dueMs: ({ workspace, list }) =>
      sweeper.dueMs(workspace, list, () => (list === 'todo' ? monitor.wakeMs(workspace) : Promise.resolve(null))),
    sweep: ({ workspace, list }, watch) => sweeper.tick(workspace, list, watch),
    ready: (signal) => deps.watch.untilUsable(signal),
    log,
    clock,
    loops,
  });
  return {
    sweeper,
    todos: (call = {}) => reportTodos(monitored(deps), call, clock),
    apply: (workspace) => poller.apply(workspace.name, listsOf(workspace), () => sweeper.replace(workspace)),
    part: {
      name: 'poller',
      start() {
        poller.start();
        return Promise.resolve();
      },
      stop: () => poller.stop(),
    },
  };
}

function monitored({ current, redis, keys }: PollingDeps): (MonitoredWorkspace & ReportedWorkspace)[] {
  return current.workspaces.map((workspace) => ({
    name: workspace.name,
    timeZone: workspace.timeZone,
    polled: workspace.lists.todo.enabled,
    watch: todoWatchOf(workspace),
    store: createTodoStore(redis, keys, workspace.name),
  }));
}
