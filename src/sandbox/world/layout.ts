/**
 * The links between initial records, as arithmetic in both directions: from a todo to its person, and from a person to all
 * their todos, without a table. Some people have many children, some none.
 */
import type { Links, Sizes } from './facts.js';

export type ChildKind = 'memo' | 'todo' | 'unlistedDeal';
export const CHILD_KINDS = ['memo', 'todo', 'unlistedDeal'] as const satisfies readonly ChildKind[];

// Of eight children, four people get 3, 2, 1 and 1. The eighth belongs only to an organization.
const SHARES = [0, 0, 0, 1, 1, 2, 3] as const;
const GROUP = 8;
const BLOCK = 4;

/** Every seventh initial person has no organization. */
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
  // Not every child of a person is also a child of their organization.
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
  // The last block may have fewer people: its first person gets the children of the missing ones.
  return first + share < people ? first + share : first;
}

/** The previous memo of the same person, which a reply answers; null for the first one. */
export function baseMemoBefore(memo: number, { people }: Sizes): number | null {
  const before = memo - GROUP * Math.ceil(people / BLOCK);
  return people === 0 || memo % GROUP >= SHARES.length || before < 0 ? null : before;
}

/** The inverse: the one memo that may be a reply to this one. */
export function baseMemoAfter(memo: number, { memo: memos, people }: Sizes): number | null {
  const after = memo + GROUP * Math.ceil(people / BLOCK);
  return people === 0 || memo % GROUP >= SHARES.length || after >= memos ? null : after;
}
