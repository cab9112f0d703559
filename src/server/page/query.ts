/** The filters of events, as parameters of a request. */
import { z } from 'zod';
import { RefusedError } from './endpoint.js';
import type { EventFilter } from './event-filter.js';
import type { PageSource } from './source.js';

const short = z.string().min(1).max(200).optional();

export const eventsQuery = z.object({
  workspace: short.describe('default: all'),
  list: short.describe('the name of a list'),
  type: short.describe('an event type; `*` matches any characters'),
  field: short.describe('a changed field; `*` matches any characters'),
  person: short.describe('the person in charge: the id, or part of the name'),
  record: short.describe("the record's id"),
  text: short.describe('part of a text of the record, such as its name'),
});

type EventsQuery = z.output<typeof eventsQuery>;

export function workspacesFrom(
  { workspace }: Pick<EventsQuery, 'workspace'>,
  source: Pick<PageSource, 'workspaces'>,
): string[] {
  const names = source.workspaces().map(({ name }) => name);
  if (workspace === undefined) return names;
  if (names.includes(workspace)) return [workspace];
  throw new RefusedError(404, `There is no workspace "${workspace}". The configuration names ${names.join(', ')}.`);
}

export function filterFrom(
  { list, type, field, person, record, text }: EventsQuery,
  source: Pick<PageSource, 'workspaces'>,
): EventFilter {
  return { object: list === undefined ? undefined : objectOfList(list, source), type, field, person, record, text };
}

function objectOfList(list: string, source: Pick<PageSource, 'workspaces'>): string {
  const lists = source.workspaces().flatMap((workspace) => workspace.lists);
  const found = lists.find(({ name, object }) => name === list || object === list);
  if (found !== undefined) return found.object;
  const names = [...new Set(lists.map(({ name }) => name))].join(', ');
  throw new RefusedError(404, `There is no list "${list}". The lists are ${names}.`);
}
