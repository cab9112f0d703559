/** The part of a status that is of one workspace. Pure. */
import type { Status } from './status.js';

/** @param reading the subscriptions that read it: their numbers are of all workspaces. Problems of Redis and of processes concern everyone, and are left out */
export function statusOf(status: Status, workspace: string, reading: readonly string[]): Status {
  return {
    ...status,
    workspaces: status.workspaces.filter(({ name }) => name === workspace),
    subscriptions: status.subscriptions.filter(({ name }) => reading.includes(name)),
    unconfigured: [],
    processes: status.processes.filter(({ workspaces }) => workspaces.includes(workspace)),
    problems: status.problems.filter((one) => one.workspace === workspace),
  };
}
