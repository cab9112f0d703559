/** Mutations of memos and todos. */
import { trailing } from '../world/base-context.js';
import { happened } from '../world/base-log.js';
import { DIRECTORY_SIZES } from '../world/directory.js';
import type { Links, MemoFacts, TodoFacts } from '../world/facts.js';
import { memoText } from '../world/words.js';
import { another, created, customEdit, edited, pick, type LifeContext } from './context.js';

const MINUTE_MS = 60_000;

/** What a new memo or todo is about: mostly a person and their organization, sometimes only an organization. */
function subjectOf(context: LifeContext): Links {
  const { roll, world } = context;
  if (roll.chance(0.12)) return { person: null, organization: pick(context, 'organization') };
  const person = pick(context, 'people');
  const organization = person === null ? null : (world.facts('people', person)?.organization ?? null);
  return { person, organization: roll.chance(0.6) ? organization : null };
}

export function createMemo(context: LifeContext, over?: Partial<MemoFacts>): number {
  return created(context, 'create-memo', (draft) => {
    const about = { ...subjectOf(context), ...over };
    const memo = draft.create('memo', { ...about, parent: over?.parent ?? null });
    if (about.person !== null) draft.create('activity', happened(draft.at, about.person, { type: 'memoCreate', memo }));
    return memo;
  });
}

export function editMemo(context: LifeContext, index: number, over?: Partial<MemoFacts>): void {
  edited(
    context,
    'edit-memo',
    ['memo', index],
    ({ text }) => over ?? { text: `${text}\n(추가) ${memoText(context.roll)}` },
  );
}

/** Its reply loses its parent, and the person's latest note is the previous one. */
export function deleteMemo({ world, now }: LifeContext, index: number): void {
  world.change('delete-memo', now(), (draft) => {
    const reply = index + 1;
    if (world.facts('memo', reply)?.parent === index) draft.edit('memo', reply, () => ({ parent: null }));
    draft.put('memo', index, null);
  });
}

export function createTodo(context: LifeContext, over?: Partial<TodoFacts>): number {
  const { roll } = context;
  return created(context, 'create-todo', (draft) => {
    // Some are due within minutes, so that todos become overdue in a short run.
    const inMinutes = roll.below(roll.chance(0.5) ? 60 : 7 * 24 * 60);
    const startAt = (Math.floor(draft.at / MINUTE_MS) + inMinutes) * MINUTE_MS;
    const about = { ...subjectOf(context), ...over };
    const times = { startAt, endAt: startAt + 15 * MINUTE_MS, doneAt: null, updatedAt: trailing(draft.at, roll) };
    const todo = draft.create('todo', { ...times, ...about });
    if (about.person !== null) draft.create('activity', happened(draft.at, about.person, { type: 'todoCreate', todo }));
    return todo;
  });
}

/** Sets 완료 날짜 and the change timestamp to the moment of completion. */
export function completeTodo(context: LifeContext, index: number): void {
  edited(context, 'complete-todo', ['todo', index], (_facts, at) => ({ doneAt: at, updatedAt: at }));
}

export function reopenTodo(context: LifeContext, index: number): void {
  edited(context, 'reopen-todo', ['todo', index], () => ({ doneAt: null }));
}

export function rescheduleTodo(context: LifeContext, index: number): void {
  const later = (1 + context.roll.below(3 * 24 * 60)) * MINUTE_MS;
  edited(context, 'reschedule-todo', ['todo', index], ({ startAt, endAt }) => ({
    startAt: startAt + later,
    endAt: endAt + later,
  }));
}

export function reassignTodo(context: LifeContext, index: number): void {
  edited(context, 'reassign-todo', ['todo', index], ({ owner }) => ({
    owner: another(context.roll, DIRECTORY_SIZES.user, owner),
  }));
}

/** Links the todo to another person: the counters of both change. */
export function relinkTodo(context: LifeContext, index: number): void {
  const person = pick(context, 'people', (_facts, each) => each !== context.world.facts('todo', index)?.person);
  edited(context, 'relink-todo', ['todo', index], () => ({ person }));
}

export function editTodo(context: LifeContext, index: number, over?: Partial<TodoFacts>): void {
  edited(context, 'edit-todo', ['todo', index], (facts) => over ?? customEdit(context, 'todo', index, facts));
}

export function deleteTodo({ world, now }: LifeContext, index: number): void {
  world.change('delete-todo', now(), (draft) => draft.put('todo', index, null));
}
