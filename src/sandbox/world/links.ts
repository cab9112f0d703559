/** From a record to what hangs on it: by arithmetic for what the seed says, by an index for what has changed since. */
import type { FactsOf, Kind, Sizes } from './facts.js';
import {
  baseChildrenOfOrganization,
  baseChildrenOfPerson,
  baseMemoAfter,
  basePeopleOf,
  CHILD_KINDS,
  type ChildKind,
} from './layout.js';
import type { Tables } from './base.js';

export type ParentKind = 'people' | 'organization' | 'memo' | 'todo';
type Parent = readonly [kind: ParentKind, index: number];

/** What a record hangs on; whoever is named here may look different when the record changes. */
export function parentsOf<K extends Kind>(kind: K, facts: FactsOf[K]): Parent[] {
  const parents: (readonly [ParentKind, number | null | undefined])[] = [];
  if (kind === 'people') parents.push(['organization', (facts as FactsOf['people']).organization]);
  if (isChildKind(kind)) {
    const { person, organization } = facts as FactsOf[ChildKind];
    parents.push(['people', person], ['organization', organization]);
  }
  if (kind === 'memo') {
    const { parent, todo } = facts as FactsOf['memo'];
    parents.push(['memo', parent], ['todo', todo]);
  }
  return parents.flatMap(([parent, index]) =>
    index === null || index === undefined ? [] : [[parent, index] as const],
  );
}

function isChildKind(kind: Kind): kind is ChildKind {
  return (CHILD_KINDS as readonly Kind[]).includes(kind);
}

export class Links {
  readonly #tables: Tables;
  readonly #sizes: Sizes;
  /** Children that were created or changed, under their present parents. */
  readonly #moved = new Map<string, Set<number>>();

  constructor(tables: Tables, sizes: Sizes) {
    this.#tables = tables;
    this.#sizes = sizes;
  }

  /** Indexes of the children there are, ascending. */
  children(child: Kind, parent: ParentKind, index: number): number[] {
    const table = this.#tables.of(child);
    const untouched = this.#baseChildren(child, parent, index).filter((each) => !table.isChanged(each));
    const moved = this.#moved.get(keyOf(child, parent, index));
    if (moved === undefined) return untouched.sort((a, b) => a - b);
    return [...untouched, ...moved].sort((a, b) => a - b);
  }

  /** To be called with every change of a record, after it is in its table. */
  move<K extends Kind>(kind: K, index: number, before: FactsOf[K] | null, after: FactsOf[K] | null): void {
    for (const [parent, at] of before === null ? [] : parentsOf(kind, before)) {
      const key = keyOf(kind, parent, at);
      const siblings = this.#moved.get(key);
      siblings?.delete(index);
      if (siblings?.size === 0) this.#moved.delete(key);
    }
    for (const [parent, at] of after === null ? [] : parentsOf(kind, after)) {
      const key = keyOf(kind, parent, at);
      const siblings = this.#moved.get(key) ?? new Set<number>();
      this.#moved.set(key, siblings.add(index));
    }
  }

  #baseChildren(child: Kind, parent: ParentKind, index: number): number[] {
    if (index >= this.#sizes[parent]) return [];
    if (parent === 'memo') {
      const reply = child === 'memo' ? baseMemoAfter(index, this.#sizes) : null;
      return reply !== null && this.#tables.of('memo').base(reply)?.parent === index ? [reply] : [];
    }
    if (parent === 'todo') return [];
    if (child === 'people') return parent === 'organization' ? basePeopleOf(index, this.#sizes) : [];
    if (!isChildKind(child)) return [];
    return parent === 'people'
      ? baseChildrenOfPerson(child, index, this.#sizes)
      : baseChildrenOfOrganization(child, index, this.#sizes);
  }
}

function keyOf(child: Kind, parent: ParentKind, index: number): string {
  return `${child}<${parent}:${index}`;
}
