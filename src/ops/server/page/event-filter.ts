/** Which events a reader wants: the parameters of a request, and what they select. */
import { z } from 'zod';
import { compileActor } from '../../../events/actor.js';
import { objectOf } from '../../../events/envelope.js';
import { compilePattern } from '../../../events/pattern.js';
import { personInCharge } from '../../../events/person-in-charge.js';
import type { ChangeEvent } from '../../../events/types.js';
import { RefusedError } from './refused.js';
import type { PageSource } from './source.js';

const short = z.string().min(1).max(200).optional();

export const eventsQuery = z.strictObject({
  workspace: short.describe('default: all'),
  list: short.describe('the name of a list'),
  type: z.string().min(1).max(2_000).optional().describe('event types with commas between; `*` matches any characters'),
  field: short.describe('a changed field; `*` matches any characters'),
  person: short.describe('the person in charge: the id, or part of the name'),
  actor: short.describe('who made the change: `user`, `api` …, `unknown`, the id, or part of the name'),
  record: short.describe("the record's id"),
  text: short.describe('part of a text of the record, such as its name'),
});

type EventsQuery = z.output<typeof eventsQuery>;

export function workspacesFrom({ workspace }: EventsQuery, source: PageSource): string[] {
  return workspace === undefined ? source.workspaces().map(({ name }) => name) : [knownWorkspace(workspace, source)];
}

/** @throws RefusedError 404 */
export function knownWorkspace<Name extends string | undefined>(workspace: Name, source: PageSource): Name {
  const names = source.workspaces().map(({ name }) => name);
  if (workspace === undefined || names.includes(workspace)) return workspace;
  throw new RefusedError(404, `There is no workspace "${workspace}". The configuration names ${names.join(', ')}.`);
}

/** All conditions must hold. */
export function filterFrom(
  { list, type, field, person, actor, record, text }: EventsQuery,
  source: PageSource,
): (event: ChangeEvent) => boolean {
  const tests: ((event: ChangeEvent) => boolean)[] = [];
  if (list !== undefined) {
    const object = objectOfList(list, source);
    tests.push((event) => event.type.startsWith('crm.') && objectOf(event) === object);
  }
  if (type !== undefined) {
    const types = type.split(',').map(compilePattern);
    tests.push((event) => types.some((matches) => matches(event.type)));
  }
  if (field !== undefined) {
    const matches = compilePattern(normal(field));
    tests.push(({ data }) => data.changes.some((change) => matches(normal(change.field))));
  }
  if (record !== undefined) tests.push(({ subject }) => subject === record);
  if (person !== undefined)
    tests.push((event) => peopleOf(event).some((one) => one.id === person || contains(one.name, person)));
  if (actor !== undefined) tests.push(compileActor(actor));
  if (text !== undefined)
    tests.push((event) => event.subject === text || namesOf(event).some((name) => contains(name, text)));
  return (event) => tests.every((test) => test(event));
}

function objectOfList(list: string, source: PageSource): string {
  const lists = source.workspaces().flatMap((workspace) => workspace.lists);
  const found = lists.find(({ name, object }) => name === list || object === list);
  if (found !== undefined) return found.object;
  const names = [...new Set(lists.map(({ name }) => name))].join(', ');
  throw new RefusedError(404, `There is no list "${list}". The lists are ${names}.`);
}

/** The person in charge, before and after the change. */
function peopleOf({ data }: ChangeEvent): { id: string; name: string }[] {
  return [data.after, data.before].flatMap((record) => (record === null ? [] : (personInCharge(record) ?? [])));
}

function namesOf({ data: { before, after } }: ChangeEvent): string[] {
  return [after, before].flatMap((record) =>
    record === null
      ? []
      : Object.values(record).filter((value): value is string => typeof value === 'string' && value.length <= LONGEST),
  );
}

/** Longer texts are not searched: a search reads thousands of events. */
const LONGEST = 2_000;

function contains(text: string, part: string): boolean {
  return normal(text).includes(normal(part));
}

function normal(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
