/** People, organizations, memos, todos, deals and records of further lists, derived from the seed: the initial ones, and what new ones begin with. */
import { DIRECTORY_SIZES } from './directory.js';
import { trailing, type BaseContext } from './base-context.js';
import type { DealStatus, Enrolment, FactsOf, FurtherFacts, Submission } from './facts.js';
import { fixedUuid } from './ids.js';
import { baseLinks, memoBefore } from './links.js';
import { DEAL, LEAD, type FurtherName } from './lists.js';
import type { Dice } from './random.js';
import {
  companyName,
  memoText,
  personName,
  phoneNumber,
  positionName,
  refusalReason,
  TODO_TYPES,
  todoContent,
} from './words.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const KST_MS = 9 * 3_600_000;

export function basePerson(index: number, context: BaseContext): FactsOf['people'] {
  const roll = context.dice('people', index);
  const createdAt = context.bornAt('people', index);
  const updatedAt = context.later(createdAt, roll);
  return {
    ...contactOf(roll, { createdAt, updatedAt, name: personName(roll) }, `p${index}`, context),
    organization: baseLinks('people', index, context).organization,
    position: roll.chance(0.7) ? positionName(roll) : null,
    enrolments: enrolmentsOf(roll, createdAt, updatedAt),
    refusal: roll.chance(0.06) ? refusalOf(roll) : null,
  };
}

export function refusalOf(roll: Dice): NonNullable<FactsOf['people']['refusal']> {
  return { reason: roll.chance(0.5) ? refusalReason(roll) : null };
}

export function baseOrganization(index: number, context: BaseContext): FactsOf['organization'] {
  const roll = context.dice('organization', index);
  const createdAt = context.bornAt('organization', index);
  const updatedAt = context.later(createdAt, roll);
  return {
    ...contactOf(roll, { createdAt, updatedAt, name: companyName(roll) }, `o${index}`, context),
    sequences: roll.chance(0.2) ? [roll.below(DIRECTORY_SIZES.sequence)] : [],
  };
}

type Head = Pick<FactsOf['people'], 'createdAt' | 'updatedAt' | 'name'>;

function contactOf(roll: Dice, head: Head, mailbox: string, { seed }: BaseContext) {
  return {
    ...head,
    email: roll.chance(0.85) ? `${mailbox}.${seed}@example.invalid` : null,
    phone: roll.chance(0.8) ? phoneNumber(roll) : null,
    picture: roll.chance(0.3) ? `https://images.example.invalid/${mailbox}/${roll.below(1e9)}.png` : null,
    linkedin: roll.chance(0.2) ? `https://www.linkedin.com/in/example-${mailbox}` : null,
    owner: ownerOf(roll),
    teams: teamsOf(roll),
    submissions: submissionsOf(roll, head.createdAt, head.updatedAt),
    custom: null,
  };
}

function ownerOf(roll: Dice): number | null {
  return roll.chance(0.9) ? roll.below(DIRECTORY_SIZES.user) : null;
}

function teamsOf(roll: Dice): number[] {
  const first = roll.below(DIRECTORY_SIZES.team);
  if (roll.chance(0.25)) return [];
  return roll.chance(0.2) ? [first, (first + 1) % DIRECTORY_SIZES.team] : [first];
}

function submissionsOf(roll: Dice, from: number, until: number): Submission[] {
  if (roll.chance(0.7)) return [];
  const count = 1 + roll.below(2);
  return timesBetween(roll, from, until, count).map((at) => ({ form: roll.below(DIRECTORY_SIZES.form), at }));
}

function enrolmentsOf(roll: Dice, from: number, until: number): Enrolment[] {
  if (roll.chance(0.75)) return [];
  const times = timesBetween(roll, from, until, 1 + roll.below(3));
  return times.map((at, nth) => ({
    sequence: roll.below(DIRECTORY_SIZES.sequence),
    at,
    running: nth === times.length - 1 && roll.chance(0.5),
  }));
}

function timesBetween(roll: Dice, from: number, until: number, count: number): number[] {
  return Array.from({ length: count }, () => from + roll.below(until - from)).sort((a, b) => a - b);
}

export function baseMemo(index: number, context: BaseContext): FactsOf['memo'] {
  const roll = context.dice('memo', index);
  const createdAt = context.bornAt('memo', index);
  const links = baseLinks('memo', index, context);
  return {
    ...links,
    createdAt,
    updatedAt: roll.chance(0.8) ? trailing(createdAt, roll) : context.later(createdAt, roll),
    text: memoText(roll),
    deal: dealOf(roll, context),
    productId: roll.chance(0.05) ? fixedUuid(context.seed, 201, roll.below(50)) : null,
    quoteId: roll.chance(0.05) ? fixedUuid(context.seed, 202, index) : null,
    todo: null,
    parent: roll.chance(0.12) ? memoBefore(index) : null,
    owner: roll.below(DIRECTORY_SIZES.user),
  };
}

export function baseTodo(index: number, context: BaseContext): FactsOf['todo'] {
  const roll = context.dice('todo', index);
  const createdAt = context.bornAt('todo', index);
  const startAt = officeTime(createdAt + (1 + roll.below(14)) * DAY_MS, roll);
  const endAt = startAt + 15 * MINUTE_MS * (1 + roll.below(8));
  const doneAt = doneAtOf({ createdAt, endAt, start: context.start }, roll);
  return {
    ...baseLinks('todo', index, context),
    createdAt,
    updatedAt: doneAt ?? trailing(createdAt, roll),
    content: todoContent(roll),
    type: roll.pick(TODO_TYPES),
    startAt,
    endAt,
    doneAt,
    owner: ownerOf(roll),
    teams: teamsOf(roll),
    deal: dealOf(roll, context),
    custom: null,
  };
}

/** A time from 9 to 18 h in Korea, on this day. */
function officeTime(day: number, roll: Dice): number {
  const midnight = Math.floor((day + KST_MS) / DAY_MS) * DAY_MS - KST_MS;
  return midnight + (18 + roll.below(18)) * 30 * MINUTE_MS;
}

/** Most todos are done around the time they are due, and one that is due later may be done already; only recent ones are overdue. */
function doneAtOf(
  { createdAt, endAt, start }: { createdAt: number; endAt: number; start: number },
  roll: Dice,
): number | null {
  const overdueMs = start - endAt;
  if (!roll.chance(overdueMs > 14 * DAY_MS ? 1 : overdueMs > 0 ? 0.87 : 0.15)) return null;
  const from = Math.max(createdAt, Math.min(endAt, start) - 3 * DAY_MS);
  return from + roll.below(Math.max(1, Math.min(endAt + DAY_MS, start) - from));
}

/** The deal that some memos and todos are about. */
function dealOf(roll: Dice, { sizes }: BaseContext): number | null {
  return sizes.unlistedDeal > 0 && roll.chance(0.2) ? roll.below(sizes.unlistedDeal) : null;
}

const DEAL_STATUSES = ['lead', 'running', 'running', 'won', 'lost'] as const satisfies readonly DealStatus[];

export function baseDeal(index: number, context: BaseContext): FactsOf['unlistedDeal'] {
  const roll = context.dice('unlistedDeal', index);
  return {
    ...baseLinks('unlistedDeal', index, context),
    createdAt: context.bornAt('unlistedDeal', index),
    status: roll.pick(DEAL_STATUSES),
    owner: roll.below(DIRECTORY_SIZES.user),
  };
}

const STATUSES = ['신규', '진행중', '보류', '완료', '취소'] as const;
const SALE_STATUSES = ['진행중', '보류', '성사', '실패'] as const;
const statusesOf = (list: FurtherName) => (list === DEAL || list === LEAD ? SALE_STATUSES : STATUSES);

export function baseFurther(list: FurtherName, index: number, context: BaseContext): FurtherFacts {
  const roll = context.dice(list, index);
  const createdAt = context.bornAt(list, index);
  return {
    createdAt,
    updatedAt: context.later(createdAt, roll),
    name: `${companyName(roll)} ${1 + roll.below(900)}`,
    status: roll.pick<string>(statusesOf(list)),
    amount: roll.chance(0.8) ? roll.below(900) * 100_000 : null,
    description: roll.chance(0.4) ? memoText(roll) : null,
    owner: ownerOf(roll),
    teams: teamsOf(roll),
  };
}

/** Another value for one field. */
export function furtherEdit(list: FurtherName, roll: Dice, facts: FurtherFacts): Partial<FurtherFacts> {
  const statuses: readonly string[] = statusesOf(list);
  switch (roll.below(4)) {
    case 0:
      return { status: statuses[(statuses.indexOf(facts.status) + 1) % statuses.length] ?? facts.status };
    case 1:
      return { amount: facts.amount === null ? roll.below(900) * 100_000 : facts.amount + 100_000 };
    case 2:
      return { description: facts.description === null ? memoText(roll) : null };
    default:
      return { owner: ((facts.owner ?? -1) + 1 + roll.below(DIRECTORY_SIZES.user - 1)) % DIRECTORY_SIZES.user };
  }
}
