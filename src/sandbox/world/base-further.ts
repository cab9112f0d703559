/** Initial records of the further lists, and the values for new and edited ones. */
import type { BaseContext } from './base-context.js';
import { teamsOf } from './base-contacts.js';
import { DIRECTORY_SIZES } from './directory.js';
import type { FurtherFacts } from './facts.js';
import type { FurtherName } from './lists.js';
import type { Dice } from './random.js';
import { companyName, memoText } from './words.js';

const STATUSES = ['신규', '진행중', '보류', '완료', '취소'] as const;

export function baseFurther(list: FurtherName, index: number, context: BaseContext): FurtherFacts {
  const roll = context.dice(list, index);
  const bornAt = context.bornAt(list, index);
  return { bornAt, createdAt: bornAt, updatedAt: context.later(bornAt, roll), ...furtherValues(roll) };
}

export function furtherValues(roll: Dice): Omit<FurtherFacts, 'bornAt' | 'createdAt' | 'updatedAt'> {
  return {
    name: `${companyName(roll)} ${1 + roll.below(900)}`,
    status: roll.pick(STATUSES),
    amount: roll.chance(0.8) ? roll.below(900) * 100_000 : null,
    description: roll.chance(0.4) ? memoText(roll) : null,
    owner: roll.chance(0.9) ? roll.below(DIRECTORY_SIZES.user) : null,
    teams: teamsOf(roll),
  };
}

/** Another value for one field. */
export function furtherEdit(roll: Dice, facts: FurtherFacts): Partial<FurtherFacts> {
  switch (roll.below(4)) {
    case 0:
      return { status: STATUSES[(STATUSES.indexOf(facts.status as never) + 1) % STATUSES.length] ?? STATUSES[0] };
    case 1:
      return { amount: facts.amount === null ? roll.below(900) * 100_000 : facts.amount + 100_000 };
    case 2:
      return { description: facts.description === null ? memoText(roll) : null };
    default:
      return { owner: ((facts.owner ?? -1) + 1 + roll.below(DIRECTORY_SIZES.user - 1)) % DIRECTORY_SIZES.user };
  }
}
