/** What a caller of one workspace sees: the rest does not exist for them. */
import type { Status } from '../../watch/status.js';
import { statusOf } from '../../watch/status-of.js';
import type { Caller } from '../http/access.js';
import type { History } from './history.js';
import { RefusedError } from './refused.js';
import type { EndpointDeps, PageSource } from './source.js';
import type { TodoReports } from './todo-reports.js';

export function sourceFor(caller: Caller | null, source: PageSource): PageSource {
  const { workspace } = caller ?? {};
  if (workspace === undefined) return source;
  return { ...source, workspaces: () => source.workspaces().filter(({ name }) => name === workspace) };
}

export function pageFor<Page extends EndpointDeps & { todos: TodoReports }>(caller: Caller | null, page: Page): Page {
  const { workspace } = caller ?? {};
  if (workspace === undefined) return page;
  const isOwn = ({ name }: { name: string }): boolean => name === workspace;
  const status = async (): Promise<Status> => {
    const { redis, ...own } = statusOf(await page.status(), workspace, []);
    // Where and how it is served is no customer's business.
    return { ...own, redis: { ...redis, evictionPolicy: null }, processes: [] };
  };
  const todos: TodoReports = async (since) => {
    const { workspaces, ...report } = await page.todos(since);
    return { ...report, workspaces: workspaces.filter((one) => one.workspace === workspace) };
  };
  const since: History['since'] = (fromMs) =>
    page.history
      .since(fromMs)
      .map(({ at, workspaces }) => ({ at, workspaces: workspaces.filter(isOwn), subscriptions: [] }));
  return { ...page, source: sourceFor(caller, page.source), status, todos, history: { ...page.history, since } };
}

/** Names the workspace of such a caller where none is named. @throws RefusedError 404 for another one */
export function askedBy<Asked extends Readonly<Record<string, unknown>>>(
  caller: Caller | null,
  asked: Asked,
  takesWorkspace: boolean,
): Asked {
  const { workspace } = caller ?? {};
  if (workspace === undefined || !takesWorkspace) return asked;
  const { workspace: given = workspace } = asked;
  if (given !== workspace) throw new RefusedError(404, `There is no such workspace. Yours is "${workspace}".`);
  return { ...asked, workspace };
}
