/** People and organizations of the initial workspace. */
import { DIRECTORY_SIZES } from './directory.js';
import type { BaseContext } from './base-context.js';
import type { Enrolment, OrganizationFacts, PersonFacts, Submission } from './facts.js';
import { baseOrganizationOf } from './layout.js';
import type { Dice } from './random.js';
import { companyName, personName, phoneNumber, positionName, refusalReason } from './words.js';

export function basePerson(index: number, context: BaseContext): PersonFacts {
  const roll = context.dice('people', index);
  const bornAt = context.bornAt('people', index);
  const updatedAt = context.later(bornAt, roll);
  return {
    ...contactOf(roll, { bornAt, updatedAt, name: personName(roll), mailbox: `p${index}` }, context),
    organization: baseOrganizationOf(index, context.sizes),
    position: roll.chance(0.7) ? positionName(roll) : null,
    enrolments: enrolmentsOf(roll, bornAt, updatedAt),
    refusal: roll.chance(0.06) ? { reason: roll.chance(0.5) ? refusalReason(roll) : null } : null,
    custom: null,
  };
}

export function baseOrganization(index: number, context: BaseContext): OrganizationFacts {
  const roll = context.dice('organization', index);
  const bornAt = context.bornAt('organization', index);
  const updatedAt = context.later(bornAt, roll);
  return {
    ...contactOf(roll, { bornAt, updatedAt, name: companyName(roll), mailbox: `o${index}` }, context),
    sequences: roll.chance(0.2) ? [roll.below(DIRECTORY_SIZES.sequence)] : [],
    custom: null,
  };
}

interface Who {
  bornAt: number;
  updatedAt: number;
  name: string;
  mailbox: string;
}

function contactOf(roll: Dice, { bornAt, updatedAt, name, mailbox }: Who, { seed }: BaseContext) {
  return {
    bornAt,
    createdAt: bornAt,
    updatedAt,
    name,
    email: roll.chance(0.85) ? `${mailbox}.${seed}@example.invalid` : null,
    phone: roll.chance(0.8) ? phoneNumber(roll) : null,
    picture: roll.chance(0.3) ? `https://images.example.invalid/${mailbox}/${roll.below(1e9)}.png` : null,
    linkedin: roll.chance(0.2) ? `https://www.linkedin.com/in/example-${mailbox}` : null,
    owner: roll.chance(0.9) ? roll.below(DIRECTORY_SIZES.user) : null,
    teams: teamsOf(roll),
    submissions: submissionsOf(roll, bornAt, updatedAt),
  };
}

export function teamsOf(roll: Dice): number[] {
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
  const times = Array.from({ length: count }, () => from + roll.below(Math.max(1, until - from)));
  return times.sort((a, b) => a - b);
}
