/** Mutations of memos and todos. */
import { customValues, editCustom } from '../world/custom.js';
import { DIRECTORY_SIZES } from '../world/directory.js';
import { teamsOf } from '../world/base-contacts.js';
import { toMinute } from '../world/base-children.js';
import type { Links, MemoFacts, TodoFacts } from '../world/facts.js';
import { memoText, TODO_TYPES, todoContent } from '../world/words.js';
import { activityRow } from './log.js';
import { another, bornNow, pick, trailing, type LifeContext } from './context.js';

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
  const { world, roll } = context;
  let created = -1;
  world.change('create-memo', context.now(), (draft) => {
    const facts: MemoFacts = {
      ...bornNow(draft.at),
      ...subjectOf(context),
      updatedAt: trailing(draft.at, roll),
      text: memoText(roll),
      deal: null,
      productId: null,
      quoteId: null,
      todo: null,
      parent: null,
      owner: roll.below(DIRECTORY_SIZES.user),
      ...over,
    };
    created = draft.create('memo', facts);
    if (facts.person !== null)
      draft.create('activity', activityRow(draft.at, facts.person, { type: 'memoCreate', memo: created }));
  });
  return created;
}

export function editMemo(context: LifeContext, index: number, over?: Partial<MemoFacts>): void {
  const { world, roll } = context;
  world.change('edit-memo', context.now(), (draft) => {
    draft.edit('memo', index, ({ text }) => ({
      ...(over ?? { text: `${text}\n(추가) ${memoText(roll)}` }),
      updatedAt: trailing(draft.at, roll),
    }));
  });
}

/** Its replies lose their parent, and the person's latest note is the previous one. */
export function deleteMemo({ world, now }: LifeContext, index: number): void {
  world.change('delete-memo', now(), (draft) => {
    for (const reply of world.children('memo', 'memo', index)) draft.edit('memo', reply, () => ({ parent: null }));
    draft.put('memo', index, null);
  });
}

export function createTodo(context: LifeContext, over?: Partial<TodoFacts>): number {
  const { world, roll } = context;
  let created = -1;
  world.change('create-todo', context.now(), (draft) => {
    // Some are due within minutes, so that todos become overdue in a short run.
    const startAt = toMinute(draft.at) + roll.below(roll.chance(0.5) ? 60 : 7 * 24 * 60) * MINUTE_MS;
    const facts: TodoFacts = {
      ...bornNow(draft.at),
      ...subjectOf(context),
      updatedAt: trailing(draft.at, roll),
      content: todoContent(roll),
      type: roll.pick(TODO_TYPES),
      startAt,
      endAt: startAt + 15 * MINUTE_MS,
      doneAt: null,
      owner: roll.below(DIRECTORY_SIZES.user),
      teams: teamsOf(roll),
      deal: null,
      custom: customValues('todo', roll, draft.at, world.directory),
      ...over,
    };
    created = draft.create('todo', facts);
    if (facts.person !== null)
      draft.create('activity', activityRow(draft.at, facts.person, { type: 'todoCreate', todo: created }));
  });
  return created;
}

function changeTodo(
  context: LifeContext,
  kind: string,
  index: number,
  edit: (facts: TodoFacts, at: number) => Partial<TodoFacts>,
): void {
  context.world.change(kind, context.now(), (draft) => {
    draft.edit('todo', index, (facts) => ({ updatedAt: trailing(draft.at, context.roll), ...edit(facts, draft.at) }));
  });
}

/** Sets 완료 날짜 and the change timestamp to the moment of completion. */
export function completeTodo(context: LifeContext, index: number): void {
  changeTodo(context, 'complete-todo', index, (_facts, at) => ({ doneAt: at, updatedAt: at }));
}

export function reopenTodo(context: LifeContext, index: number): void {
  changeTodo(context, 'reopen-todo', index, () => ({ doneAt: null }));
}

export function rescheduleTodo(context: LifeContext, index: number): void {
  const later = (1 + context.roll.below(3 * 24 * 60)) * MINUTE_MS;
  changeTodo(context, 'reschedule-todo', index, ({ startAt, endAt }) => ({
    startAt: startAt + later,
    endAt: endAt + later,
  }));
}

export function reassignTodo(context: LifeContext, index: number): void {
  changeTodo(context, 'reassign-todo', index, ({ owner }) => ({
    owner: another(context.roll, DIRECTORY_SIZES.user, owner),
  }));
}

/** Links the todo to another person: the counters of both change. */
export function relinkTodo(context: LifeContext, index: number): void {
  const person = pick(context, 'people', (_facts, each) => each !== context.world.facts('todo', index)?.person);
  changeTodo(context, 'relink-todo', index, () => ({ person }));
}

export function editTodo(context: LifeContext, index: number, over?: Partial<TodoFacts>): void {
  const { roll, world } = context;
  changeTodo(
    context,
    'edit-todo',
    index,
    (facts, at) =>
      over ?? { custom: editCustom('todo', world.customOf('todo', index, facts), roll, at, world.directory) },
  );
}

export function deleteTodo({ world, now }: LifeContext, index: number): void {
  world.change('delete-todo', now(), (draft) => {
    for (const memo of world.children('memo', 'todo', index)) draft.edit('memo', memo, () => ({ todo: null }));
    draft.put('todo', index, null);
  });
}
