/** The todos behind the numbers of a report. It sends no request to the CRM. */
import type { TodoRow, TodoRows, TodoState } from '../../crm/todo-counts.js';
import type { CrmRecord } from '../../crm/record.js';
import { recordItBelongsTo, type FindRecord } from '../../events/about.js';
import { titleOfRecord } from '../../events/describe.js';
import { linkTo, type Links } from '../../events/related.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import { usage } from '../../kit/errors.js';
import { everyStored, factsIn, periodsOf, type CountedTodo, type ReportedTodos, type TodosCall } from './report.js';

/** Which todos are listed. */
export interface TodoRowsCall extends TodosCall {
  /** Open, due today, overdue, or completed within the period. */
  show: TodoState;
  /** The id or the name of the person in charge; `none`: without one. @defaultValue all */
  owner?: string | undefined;
  /** The id or the name of a team; `none`: without one. @defaultValue all */
  team?: string | undefined;
  /** `due`, `title`, `owner` or `completed`; with `-` before it, the last first. Todos without a value are last. @defaultValue 'due' */
  sort?: string | undefined;
  /** At most so many, 1 to 200. @defaultValue 50 */
  limit?: number | undefined;
  /** `next` of the answer before. */
  from?: string | undefined;
}

export interface TodoRowsDeps {
  clock: Clock;
  find: FindRecord;
  linksOf: (workspace: string) => Links;
}

const MOST = 200;
export const NONE = 'none';

/** What it is sorted by, and its id, which is unique within its workspace. */
type Place = readonly [value: string | number | null, workspace: string, id: string];
interface Found {
  place: Place;
  workspace: string;
  record: CrmRecord;
  facts: CountedTodo;
}

const SORTS: Readonly<Record<string, (of: Omit<Found, 'place'>) => string | number | null>> = {
  due: ({ facts }) => facts.deadline,
  completed: ({ facts }) => facts.doneAt,
  owner: ({ facts }) => facts.owner?.name ?? null,
  title: ({ record }) => titleOfRecord(record),
};
export const TODO_SORTS = Object.keys(SORTS);

/** @throws CF_USAGE: as reports, and for a sort that does not exist */
export async function listTodos(
  workspaces: readonly ReportedTodos[],
  call: TodoRowsCall,
  { clock, ...deps }: TodoRowsDeps,
): Promise<TodoRows> {
  const { show, sort = 'due', limit = 50, from, ...asked } = call;
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw usage(`todos: limit must be a whole number from 1 to ${MOST}.`);
  const nowMs = clock.now();
  const [valueOf, isLastFirst] = [SORTS[sort.replace(/^-/, '')], sort.startsWith('-')];
  if (valueOf === undefined)
    throw usage(`todos: sort: found "${sort}"; allowed: ${TODO_SORTS.join(', ')}, with - before it.`);
  const order = (one: Place, other: Place): number => compare(one, other, isLastFirst);
  const after = from === undefined ? null : placeIn(from);
  let [found, count]: [Found[], number] = [[], 0];
  for (const { one, sinceMs } of periodsOf(workspaces, asked, nowMs)) {
    const factsOf = factsIn({ timeZone: one.timeZone, sinceMs, nowMs });
    for await (const [id, record] of everyStored(one.store)) {
      const facts = factsOf(record);
      if (!facts[show] || !isOf(facts, asked)) continue;
      count += 1;
      const of = { workspace: one.name, record: { ...record, id }, facts };
      const place: Place = [valueOf(of), one.name, id];
      if (after === null || order(place, after) > 0) found.push({ ...of, place });
      // Only the answer is kept, and some more, so that it is not sorted for each.
      if (found.length > 4 * MOST) found = firstOf(found, order, limit + 1);
    }
  }
  found = firstOf(found, order, limit + 1);
  const shown = found.slice(0, limit);
  const last = shown.at(-1)?.place;
  return {
    at: isoTime(nowMs),
    count,
    rows: await Promise.all(shown.map((each) => rowOf(each, nowMs, deps))),
    next: found.length > limit && last ? Buffer.from(JSON.stringify(last)).toString('base64url') : null,
  };
}

function firstOf(found: readonly Found[], order: (one: Place, other: Place) => number, count: number): Found[] {
  return found.toSorted((one, other) => order(one.place, other.place)).slice(0, count);
}

/** As groups are made: a todo of two teams is of both. */
function isOf({ owner, teams }: CountedTodo, { owner: person, team }: Pick<TodoRowsCall, 'owner' | 'team'>): boolean {
  const named = (one: { id: string; name: string } | null, wanted: string): boolean =>
    one === null ? wanted === NONE : one.id === wanted || one.name === wanted;
  const isOwner = person === undefined || named(owner, person);
  return isOwner && (team === undefined || (teams.length === 0 ? [null] : teams).some((one) => named(one, team)));
}

const DAY_MS = 86_400_000;

async function rowOf(
  { workspace, record, facts }: Found,
  nowMs: number,
  { find, linksOf }: Omit<TodoRowsDeps, 'clock'>,
): Promise<TodoRow> {
  const { owner, teams, deadline, doneAt, wasDone } = facts;
  const lateMs = deadline === null ? 0 : (wasDone ? (doneAt ?? 0) : nowMs) - deadline;
  const isLate = facts.overdue || (wasDone && lateMs > 0);
  return {
    workspace,
    id: record.id,
    title: titleOfRecord(record),
    owner,
    teams: teams.map(({ name }) => name),
    about: await recordItBelongsTo(record, workspace, find),
    due: deadline === null ? null : isoTime(deadline),
    completedAt: doneAt === null ? null : isoTime(doneAt),
    done: wasDone,
    daysLate: isLate ? Math.floor(lateMs / DAY_MS) : null,
    link: linkTo('todo', record.id, linksOf(workspace)),
  };
}

/** Without a value last, whatever the direction. */
function compare([one, ...own]: Place, [other, ...others]: Place, isLastFirst: boolean): number {
  if (one === null || other === null) {
    if (one !== other) return one === null ? 1 : -1;
  } else if (one !== other) {
    const isBefore = typeof one === typeof other ? one < other : typeof one === 'number';
    return isBefore === isLastFirst ? 1 : -1;
  }
  const [name, otherName] = [own.join('\0'), others.join('\0')];
  return name < otherName ? -1 : Number(name > otherName);
}

function placeIn(text: string): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (Array.isArray(place) && place.length === 3) return place as unknown as Place;
  } catch {
    // As any other that is none of ours.
  }
  throw usage('todos: from must be `next` of an earlier answer.');
}
