/** Each action as a route of the API: its document, its role, its turn, and its entry in the audit. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Audit } from '../ops/audit.js';
import { described, type Api } from '../ops/server/page/api.js';
import { knownWorkspace } from '../ops/server/page/event-filter.js';
import { whoIs } from '../ops/server/http/access.js';
import type { EndpointDeps, PageRules } from '../ops/server/page/source.js';
import { createTodoReports } from '../ops/server/page/todo-reports.js';
import { namesInPath, readsOnly, type Action, type ActingOnPage } from './define.js';
import { entryOf } from './entry.js';
import type { Changefeed } from './feed.js';
import { ACTIONS } from './table.js';

interface RouteDeps {
  feed: Changefeed;
  rules: PageRules;
  audit: Audit;
}

export function addActions(app: Api, parts: EndpointDeps, deps: RouteDeps): void {
  const page = { ...parts, todos: createTodoReports((call) => deps.feed.todos(call), parts.clock) };
  for (const action of ACTIONS) addAction(app, action, { ...deps, page });
}

function addAction(app: Api, action: Action, deps: RouteDeps & Pick<ActingOnPage, 'page'>): void {
  const [method = '', url = ''] = action.route.split(' ');
  const { id, on, about, input, answer, open, offline, cost } = action;
  const named = namesInPath(action);
  const reads = readsOnly(action);
  const params = z.object(part(input, (name) => named.includes(name)));
  // What checks several fields together is kept where none of them is in the path.
  const given = named.length === 0 ? input : z.strictObject(part(input, (name) => !named.includes(name)));
  app.route({
    method,
    url,
    config: {
      action: action.name,
      access: open === true ? 'public' : reads ? 'read' : 'operate',
      ...(offline === true && { offline }),
      ...(cost !== undefined && { cost }),
    },
    schema: described(on)(id, about[0], answer, {
      ...(named.length > 0 && { params }),
      ...(Object.keys(given.shape).length > 0 && { [method === 'GET' ? 'querystring' : 'body']: given }),
    }),
    handler: async (request) => {
      const asked = { ...(request.params as object), ...((method === 'GET' ? request.query : request.body) as object) };
      knownWorkspace((asked as { workspace?: string }).workspace, deps.page.source);
      const { caller } = request;
      const who = caller?.name == null ? 'on the status page' : `by ${caller.name}`;
      const answered = await action.run(asked, { ...deps, caller, who });
      if (!reads) await note(request, deps.audit, entryOf(action, asked, answered as object));
      return answered;
    },
  });
}

function part(input: z.ZodObject, isIn: (name: string) => boolean): z.core.$ZodShape {
  return Object.fromEntries(Object.entries(input.shape).filter(([name]) => isIn(name)));
}

async function note(request: FastifyRequest, audit: Audit, entry: ReturnType<typeof entryOf>): Promise<void> {
  request.isNoted = true;
  if (entry !== null) await audit.decided({ ...whoIs(request), ...entry });
}
