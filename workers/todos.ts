/** The stored todos of the workspaces, as reports count them. */
import { ChangefeedError } from '../src/kit/errors.js';
import type { ReportOutcome } from '../src/delivery/handlers/handler.js';
import { isoTime, type Clock } from '../src/kit/clock.js';
import { reportTodos, type ReportedTodos } from '../src/feed/todos/report.js';
import type { Workspace, Workspaces } from './workspaces.js';

export function reportedTodos({ name, config: { timeZone, lists }, todos: { store } }: Workspace): ReportedTodos {
  return { name, timeZone, enabled: lists.todo.enabled, store };
}

/** @param call `since`: ISO 8601 */
export async function countTodos(
  workspaces: Workspaces,
  { workspace, since, clock }: { workspace: string; since: string; clock: Clock },
): Promise<ReportOutcome> {
  const now = isoTime(clock.now());
  try {
    const { workspaces: counted, at } = await reportTodos([reportedTodos(workspaces.get(workspace))], { since }, clock);
    const [report] = counted;
    return report === undefined ? { refused: `Workspace "${workspace}" has no todos.`, at } : { report, at };
  } catch (error) {
    // The list is disabled: each report says so.
    if (error instanceof ChangefeedError && error.code === 'CF_USAGE') return { refused: error.message, at: now };
    throw error;
  }
}
