/** From a record to its children: by arithmetic for initial records, by an index for changed ones. */
import type { FactsOf, Kind, Sizes } from './facts.js';
import {
  baseChildrenOfOrganization,
  baseChildrenOfPerson,
  baseMemoAfter,
  basePeopleOf,
  CHILD_KINDS,
  type ChildKind,
} from './layout.js';
import type { Tables } from './tables.js';

export type ParentKind = 'people' | 'organization' | 'memo' | 'todo';
type Parent = readonly [kind: ParentKind, index: number];

/** The parents of a record. A parent's record may change when this record changes. */
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
  /** Created and changed children, by their current parents. */
  readonly #moved = new Map<string, Set<number>>();

  constructor(tables: Tables, sizes: Sizes) {
    this.#tables = tables;
    this.#sizes = sizes;
  }

  /** Indexes of the existing children, ascending. */
  children(child: Kind, parent: ParentKind, index: number): number[] {
    const table = this.#tables.of(child);
    const untouched = this.#baseChildren(child, parent, index).filter((each) => !table.isChanged(each));
    const moved = this.#moved.get(keyOf(child, parent, index));
    if (moved === undefined) return untouched.sort((a, b) => a - b);
    return [...untouched, ...moved].sort((a, b) => a - b);
  }

  /** Must be called for every change of a record, after the change is in its table. */
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
