/** Memos, todos and deals of the initial workspace: the children of people and organizations. */
import { DIRECTORY_SIZES } from './directory.js';
import type { BaseContext } from './base-context.js';
import type { DealFacts, DealStatus, MemoFacts, TodoFacts } from './facts.js';
import { fixedUuid } from './ids.js';
import { baseChildrenOfPerson, baseLinks, baseMemoBefore } from './layout.js';
import { teamsOf } from './base-contacts.js';
import { memoText, TODO_TYPES, todoContent } from './words.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export function baseMemo(index: number, context: BaseContext): MemoFacts {
  const roll = context.dice('memo', index);
  const bornAt = context.bornAt('memo', index);
  const links = baseLinks(index, context.sizes);
  return {
    ...links,
    bornAt,
    createdAt: bornAt,
    // The change timestamp of a new row is some ms after its creation, as in real answers.
    updatedAt: roll.chance(0.8) ? bornAt + 1 + roll.below(70) : context.later(bornAt, roll),
    text: memoText(roll),
    deal: links.person !== null && roll.chance(0.2) ? dealOf(links.person, context) : null,
    productId: roll.chance(0.05) ? fixedUuid(context.seed, 201, roll.below(50)) : null,
    quoteId: roll.chance(0.05) ? fixedUuid(context.seed, 202, index) : null,
    todo: null,
    // A reply has an earlier memo as its parent.
    parent: roll.chance(0.08) ? baseMemoBefore(index, context.sizes) : null,
    owner: roll.below(DIRECTORY_SIZES.user),
  };
}

export function baseTodo(index: number, context: BaseContext): TodoFacts {
  const roll = context.dice('todo', index);
  const bornAt = context.bornAt('todo', index);
  const links = baseLinks(index, context.sizes);
  const startAt = toMinute(bornAt + roll.below(14 * DAY_MS));
  const done = roll.chance(0.6);
  const updatedAt = done ? context.later(bornAt, roll) : bornAt + 1 + roll.below(70);
  return {
    ...links,
    bornAt,
    createdAt: bornAt,
    updatedAt,
    content: todoContent(roll),
    type: roll.pick(TODO_TYPES),
    startAt,
    endAt: startAt + 15 * MINUTE_MS * (1 + roll.below(8)),
    doneAt: done ? updatedAt : null,
    owner: roll.chance(0.9) ? roll.below(DIRECTORY_SIZES.user) : null,
    teams: teamsOf(roll),
    deal: links.person !== null && roll.chance(0.2) ? dealOf(links.person, context) : null,
    custom: null,
  };
}

const STATUSES = ['lead', 'running', 'running', 'won', 'lost'] as const satisfies readonly DealStatus[];

export function baseDeal(index: number, context: BaseContext): DealFacts {
  const roll = context.dice('unlistedDeal', index);
  const bornAt = context.bornAt('unlistedDeal', index);
  return {
    ...baseLinks(index, context.sizes),
    bornAt,
    createdAt: bornAt,
    status: roll.pick(STATUSES),
    owner: roll.below(DIRECTORY_SIZES.user),
  };
}

function dealOf(person: number, { sizes }: BaseContext): number | null {
  return baseChildrenOfPerson('unlistedDeal', person, sizes)[0] ?? null;
}

export function toMinute(time: number): number {
  return Math.floor(time / MINUTE_MS) * MINUTE_MS;
}
