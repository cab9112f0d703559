/** Does what was asked: the API and the tools of an assistant do it alike. */
import type { Audit } from '../ops/audit.js';
import { knownWorkspace } from '../ops/server/page/event-filter.js';
import type { EndpointDeps, PageRules } from '../ops/server/page/source.js';
import { createTodoReports } from '../ops/server/page/todo-reports.js';
import { readsOnly, type Action, type ActingOnPage } from './define.js';
import { entryOf } from './entry.js';
import type { Changefeed } from './feed.js';

/** The world of every action, whoever asks. */
export interface World extends Omit<ActingOnPage, 'who' | 'caller'> {
  audit: Audit;
}

export function worldOf(page: EndpointDeps, deps: { feed: Changefeed; rules: PageRules; audit: Audit }): World {
  return { ...deps, page: { ...page, todos: createTodoReports((call) => deps.feed.todos(call), page.clock) } };
}

/** @param note is given the entry of the audit; null: nothing was decided */
export async function carryOut(
  action: Action,
  asked: Readonly<Record<string, unknown>>,
  acting: ActingOnPage,
  note: (entry: ReturnType<typeof entryOf>) => Promise<void>,
): Promise<object> {
  knownWorkspace(asked['workspace'] as string | undefined, acting.page.source);
  const answered = (await action.run(asked, acting)) as object;
  if (!readsOnly(action)) await note(entryOf(action, asked, answered));
  return answered;
}
