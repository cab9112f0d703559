/** The links between records: of initial ones from the seed, and from a person or organization to everything that names it. */
import type { BaseContext } from './base-context.js';
import type { FactsOf, Kind, Parents } from './facts.js';

const CHILD_KINDS = ['people', 'memo', 'todo', 'unlistedDeal'] as const;
export type ChildKind = (typeof CHILD_KINDS)[number];
export type ParentKind = 'people' | 'organization';
type Parent = readonly [kind: ParentKind, index: number];

/** So many neighbours have the same parents: a memo and the replies to it. */
const THREAD = 3;

/** The parents of an initial record. Some people have many children, some none. */
export function baseLinks(kind: ChildKind, index: number, context: BaseContext): Parents {
  const { people, organization: organizations } = context.sizes;
  const roll = context.dice(kind, Math.floor(index / THREAD), 3);
  const organization = organizations === 0 ? null : roll.below(organizations);
  if (kind === 'people') return { person: null, organization: roll.chance(0.85) ? organization : null };
  if (people === 0 || roll.chance(0.12)) return { person: null, organization };
  const person = roll.below(people);
  // Not every child of a person is also a child of their organization.
  return { person, organization: roll.chance(0.5) ? baseLinks('people', person, context).organization : null };
}

/** The memo that an initial memo may reply to; null if it begins a thread. */
export function memoBefore(index: number): number | null {
  return index % THREAD === 0 ? null : index - 1;
}

/** The parents of a record. A parent's record may change when this record changes. */
export function parentsOf(kind: Kind, facts: FactsOf[Kind] | Parents): Parent[] {
  if (!isChildKind(kind)) return [];
  const { person = null, organization = null } = facts as Partial<Parents>;
  return [
    ...(person === null ? [] : [['people', person] as const]),
    ...(organization === null ? [] : [['organization', organization] as const]),
  ];
}

function isChildKind(kind: Kind): kind is ChildKind {
  return (CHILD_KINDS as readonly Kind[]).includes(kind);
}

export class Links {
  readonly #context: BaseContext;
  /** Children by kind, then by parent. Built when the first record of a kind changes or is asked for. */
  readonly #children = new Map<ChildKind, Map<string, number[]>>();

  constructor(context: BaseContext) {
    this.#context = context;
  }

  /** Indexes of the existing children, ascending. */
  children(child: ChildKind, parent: ParentKind, index: number): readonly number[] {
    return this.#of(child).get(`${parent}:${index}`) ?? [];
  }

  /** Must be called for every change of a record. */
  move<K extends Kind>(kind: K, index: number, before: FactsOf[K] | null, after: FactsOf[K] | null): void {
    if (!isChildKind(kind)) return;
    const children = this.#of(kind);
    for (const [parent, at] of before === null ? [] : parentsOf(kind, before)) {
      const key = `${parent}:${at}`;
      children.set(key, children.get(key)?.filter((each) => each !== index) ?? []);
    }
    for (const parent of after === null ? [] : parentsOf(kind, after)) {
      add(children, parent, index).sort((a, b) => a - b);
    }
  }

  #of(kind: ChildKind): Map<string, number[]> {
    const built = this.#children.get(kind);
    if (built !== undefined) return built;
    const children = new Map<string, number[]>();
    for (let index = 0; index < this.#context.sizes[kind]; index++) {
      for (const parent of parentsOf(kind, baseLinks(kind, index, this.#context))) add(children, parent, index);
    }
    this.#children.set(kind, children);
    return children;
  }
}

/** @returns the children of this parent, the new one last */
function add(children: Map<string, number[]>, [parent, at]: Parent, index: number): number[] {
  const siblings = children.get(`${parent}:${at}`) ?? [];
  siblings.push(index);
  children.set(`${parent}:${at}`, siblings);
  return siblings;
}
