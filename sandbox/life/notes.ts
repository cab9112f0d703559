/** Mutations of memos and todos. */
import { trailing } from '../world/base-context.js';
import { happened } from '../world/base-log.js';
import type { Draft } from '../world/draft.js';
import type { MemoFacts, Parents, TodoFacts } from '../world/facts.js';
import type { Dice } from '../world/random.js';
import { created, pick, type LifeContext } from './context.js';

const MINUTE_MS = 60_000;

/** The subject of a new memo or todo: mostly a person and their organization, sometimes only an organization. */
function subjectOf(context: LifeContext): Parents {
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

/** The reply to a memo that is deleted loses its parent. */
export function forgetParent(draft: Draft, index: number): void {
  const reply = index + 1;
  if (draft.get('memo', reply)?.parent === index) draft.edit('memo', reply, () => ({ parent: null }));
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

/** Both times of a todo, up to three days later. */
export function later({ startAt, endAt }: TodoFacts, roll: Dice): Pick<TodoFacts, 'startAt' | 'endAt'> {
  const byMs = (1 + roll.below(3 * 24 * 60)) * MINUTE_MS;
  return { startAt: startAt + byMs, endAt: endAt + byMs };
}
