/**
 * Who belongs to whom in the world the seed gives, as arithmetic in both directions: from a todo to its person, and
 * from a person to all their todos, without a table. Some people have many, some none.
 */
import type { Links, Sizes } from './facts.js';

export type ChildKind = 'memo' | 'todo' | 'unlistedDeal';
export const CHILD_KINDS = ['memo', 'todo', 'unlistedDeal'] as const satisfies readonly ChildKind[];

// Eight children go to four people in shares of 3, 2, 1 and 1; the eighth goes to an organization alone.
const SHARES = [0, 0, 0, 1, 1, 2, 3] as const;
const GROUP = 8;
const BLOCK = 4;

/** In the base world every seventh person has no organization. */
export function baseOrganizationOf(person: number, { organization }: Sizes): number | null {
  return organization === 0 || person % 7 === 6 ? null : person % organization;
}

export function basePeopleOf(organization: number, sizes: Sizes): number[] {
  const people: number[] = [];
  for (let person = organization; person < sizes.people; person += sizes.organization) {
    if (person % 7 !== 6) people.push(person);
  }
  return people;
}

export function baseLinks(child: number, sizes: Sizes): Links {
  const person = personOf(child, sizes);
  if (person === null) {
    return {
      person: null,
      organization: sizes.organization === 0 ? null : Math.floor(child / GROUP) % sizes.organization,
    };
  }
  // Not everything said of a person is also filed under their organization.
  return { person, organization: child % 2 === 0 ? baseOrganizationOf(person, sizes) : null };
}

export function baseChildrenOfPerson(kind: ChildKind, person: number, sizes: Sizes): number[] {
  const children: number[] = [];
  const blocks = Math.ceil(sizes.people / BLOCK);
  for (let group = Math.floor(person / BLOCK); group * GROUP < sizes[kind]; group += blocks) {
    for (let place = 0; place < GROUP; place++) {
      const child = group * GROUP + place;
      if (child < sizes[kind] && personOf(child, sizes) === person) children.push(child);
    }
  }
  return children;
}

export function baseChildrenOfOrganization(kind: ChildKind, organization: number, sizes: Sizes): number[] {
  const children: number[] = [];
  for (let group = organization; group * GROUP < sizes[kind]; group += sizes.organization) {
    for (let place = 0; place < GROUP; place++) {
      const child = group * GROUP + place;
      if (child < sizes[kind] && personOf(child, sizes) === null) children.push(child);
    }
  }
  for (const person of basePeopleOf(organization, sizes)) {
    for (const child of baseChildrenOfPerson(kind, person, sizes)) if (child % 2 === 0) children.push(child);
  }
  return children;
}

function personOf(child: number, { people }: Sizes): number | null {
  const share = SHARES[child % GROUP];
  if (people === 0 || share === undefined) return null;
  const first = (Math.floor(child / GROUP) % Math.ceil(people / BLOCK)) * BLOCK;
  // The last block may be short: its first person takes what the others would have had.
  return first + share < people ? first + share : first;
}

/** The memo of the same person that came before this one, which a reply answers; null for a person's first. */
export function baseMemoBefore(memo: number, { people }: Sizes): number | null {
  const before = memo - GROUP * Math.ceil(people / BLOCK);
  return people === 0 || memo % GROUP >= SHARES.length || before < 0 ? null : before;
}

/** The other way round: the one memo that may be a reply to this one. */
export function baseMemoAfter(memo: number, { memo: memos, people }: Sizes): number | null {
  const after = memo + GROUP * Math.ceil(people / BLOCK);
  return people === 0 || memo % GROUP >= SHARES.length || after >= memos ? null : after;
}
