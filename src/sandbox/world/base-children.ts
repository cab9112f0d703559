/** Memos, todos and deals of the initial workspace: the children of people and organizations. */
import { DIRECTORY_SIZES } from './directory.js';
import type { BaseContext } from './base-context.js';
import type { DealFacts, DealStatus, MemoFacts, TodoFacts } from './facts.js';
import { fixedUuid } from './ids.js';
import { baseChildrenOfPerson, baseLinks, baseMemoBefore } from './layout.js';
import type { Dice } from './random.js';
import { teamsOf } from './base-contacts.js';
import { memoText, TODO_TYPES, todoContent } from './words.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const KST_MS = 9 * 3_600_000;

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
  const startAt = officeTime(bornAt + (1 + roll.below(14)) * DAY_MS, roll);
  const endAt = startAt + 15 * MINUTE_MS * (1 + roll.below(8));
  const doneAt = doneAtOf({ bornAt, endAt, start: context.start }, roll);
  return {
    ...links,
    bornAt,
    createdAt: bornAt,
    updatedAt: doneAt ?? bornAt + 1 + roll.below(70),
    content: todoContent(roll),
    type: roll.pick(TODO_TYPES),
    startAt,
    endAt,
    doneAt,
    owner: roll.chance(0.9) ? roll.below(DIRECTORY_SIZES.user) : null,
    teams: teamsOf(roll),
    deal: links.person !== null && roll.chance(0.2) ? dealOf(links.person, context) : null,
    custom: null,
  };
}

/** From 9 to 18 h in Korea, on this day. */
function officeTime(day: number, roll: Dice): number {
  const midnight = Math.floor((day + KST_MS) / DAY_MS) * DAY_MS - KST_MS;
  return midnight + (18 + roll.below(18)) * 30 * MINUTE_MS;
}

/** Most todos are done around the time they are due, and one that is due later may be done already; only recent ones are overdue. */
function doneAtOf(
  { bornAt, endAt, start }: { bornAt: number; endAt: number; start: number },
  roll: Dice,
): number | null {
  const overdueMs = start - endAt;
  if (!roll.chance(overdueMs > 14 * DAY_MS ? 1 : overdueMs > 0 ? 0.87 : 0.15)) return null;
  const from = Math.max(bornAt, Math.min(endAt, start) - 3 * DAY_MS);
  return from + roll.below(Math.max(1, Math.min(endAt + DAY_MS, start) - from));
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
