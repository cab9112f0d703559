/**
 * The synthetic workspace: the initial records from the seed plus all changes since. Every change goes through `change`, which
 * builds all affected records before and after it. So derived values (a counter, a latest note) change in the same mutation,
 * and no record can change without being journalled.
 */
import type { CrmRecord } from '../../src/crm/record.js';
import { Tables } from './tables.js';
import { baseContext, type BaseContext } from './base-context.js';
import { countsOf, type Counts } from './counts.js';
import { actorOf, creditsOf, SYSTEM, type Writing } from './credits.js';
import { customValues, type Customised, type CustomKind } from './custom.js';
import { Directory, type RefKind } from './directory.js';
import { Draft, type Write } from './draft.js';
import { drawOf } from './draw.js';
import { numberOf, type Actor, type CreditFacts, type FactsOf, type Kind, type Sizes } from './facts.js';
import type { Mutation, RecordChange, Rename } from './mutation.js';
import { Ids } from './ids.js';
import { Links, parentsOf, type ChildKind, type ParentKind } from './links.js';
import {
  CREDIT_LISTS,
  CREDITED,
  DEAL,
  furtherLists,
  LEAD,
  sandboxLists,
  type CreditList,
  type FurtherName,
  type SandboxList,
  type SandboxListName,
} from './lists.js';
import type { Dice } from './random.js';
import { Orders, type Order, type OrderName } from './orders.js';

export interface WorldListener {
  /** Called after a mutation. A frozen view keeps the `before` images. */
  mutated?(mutation: Mutation): void;
  renamed?(rename: Rename): void;
}

export interface WorldOptions extends Pick<BaseContext, 'seed' | 'start' | 'sizes'> {
  /** Lists that are named when the sandbox is created. */
  named: readonly string[];
}

/** A row of history that is written later. */
interface Late {
  readonly due: number;
  readonly list: CreditList | 'history';
  readonly facts: CreditFacts;
}

/** How long a late row takes; ms. */
const LATE_MS = 5_000;

export class World {
  /** All lists: the six, then the others. */
  readonly lists: readonly SandboxList[];
  readonly further: readonly FurtherName[];
  /** Lists that were not named and that nobody has asked for: the journal leaves them out. */
  readonly #unread: Set<SandboxListName>;
  readonly #dealsWriteHistory: boolean;
  /** How history is written. */
  writing: Writing = 'true';
  /** Who makes the mutations from now on. @defaultValue null: mostly a user, sometimes a program, by the seed */
  actor: Actor | null = null;
  #late: Late[] = [];
  readonly sizes: Sizes;
  readonly directory: Directory;
  readonly context: BaseContext;
  readonly #tables: Tables;
  readonly #links: Links;
  readonly #orders: Orders;
  readonly #ids = new Map<Kind, Ids>();
  readonly #versions = new Map<string, number>();
  readonly #listeners = new Set<WorldListener>();
  #mutations = 0;
  #generation = 0;

  constructor({ seed, start, sizes, named }: WorldOptions) {
    const further = furtherLists(named);
    this.#unread = new Set([DEAL, LEAD, ...CREDIT_LISTS].filter((list) => !named.includes(list)));
    this.#dealsWriteHistory = this.#unread.has(DEAL);
    this.sizes = sizes;
    this.lists = sandboxLists(further);
    this.further = further;
    this.directory = new Directory(seed);
    // A separate directory: a later rename must not change the initial records of the history.
    this.context = baseContext({ seed, sizes, start }, new Directory(seed));
    this.#tables = new Tables(this.context, further);
    this.#links = new Links(this.context);
    this.#orders = new Orders(
      this.lists.map(({ name }) => name),
      {
        baseCount: (list) => sizes[list] ?? 0,
        idOf: (list, index) => this.idOf(list, index),
        changedAt: (list, index) => this.#changedAt(list, index),
      },
    );
  }

  /** @returns a function that removes the listener */
  listen(listener: WorldListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  facts<K extends Kind>(kind: K, index: number): FactsOf[K] | null {
    return this.#tables.of(kind).get(index);
  }

  /** Nobody has asked for this list, and it was not named. */
  isUnread(list: SandboxListName): boolean {
    return this.#unread.has(list);
  }

  /** A client asks for this list. Also writes the rows that come late. */
  asked(list: SandboxListName, now: number): void {
    this.#unread.delete(list);
    const due = this.#late.filter((row) => row.due <= now);
    if (due.length === 0) return;
    this.#late = this.#late.filter((row) => row.due > now);
    const number = ++this.#mutations;
    this.#tell({ number, kind: 'write-history', at: now, by: SYSTEM, changes: this.#write(due, number) });
  }

  children(child: ChildKind, parent: ParentKind, index: number): readonly number[] {
    return this.#links.children(child, parent, index);
  }

  order(list: SandboxListName, name: OrderName = 'creation'): Order {
    return this.#orders.get(list, name);
  }

  idOf(kind: Kind, index: number): string {
    return this.#idsOf(kind).idOf(index, this.context.bornAt(kind, index));
  }

  /** Also finds removed records, for which `image` returns null. Null for an unknown id. */
  indexOf(kind: Kind, id: string): number | null {
    const index = this.#idsOf(kind).indexOf(id);
    return index !== null && index < this.#tables.of(kind).end && this.idOf(kind, index) === id ? index : null;
  }

  #idsOf(kind: Kind): Ids {
    const ids = this.#ids.get(kind);
    if (ids !== undefined) return ids;
    const made = new Ids(this.context.seed, numberOf(kind));
    this.#ids.set(kind, made);
    return made;
  }

  /** Null when the workspace has no list of this name. */
  listNamed(name: string): SandboxList | null {
    return this.lists.find((list) => list.name === name) ?? null;
  }

  /** The current record; null if it was removed. */
  image(list: SandboxListName, index: number): CrmRecord | null {
    const facts = this.facts(list, index);
    return facts === null ? null : drawOf(list)(index, facts, this);
  }

  /** The number of the record's last mutation; 0 for an initial record. */
  versionOf(list: SandboxListName, index: number): number {
    return this.#versions.get(`${list}:${index}`) ?? 0;
  }

  /** Grows with every change of records that is no mutation: a rename. */
  get generation(): number {
    return this.#generation;
  }

  get mutations(): number {
    return this.#mutations;
  }

  /** The custom fields of a record. */
  customOf(kind: CustomKind, index: number, { custom }: Customised): Readonly<Record<string, unknown>> {
    const { context } = this;
    return custom ?? customValues(kind, context.dice(kind, index, 5), context.bornAt(kind, index), context.directory);
  }

  countsOf(list: 'people' | 'organization', index: number): Counts {
    return countsOf((kind) => this.children(kind, list, index).flatMap((child) => this.facts(kind, child) ?? []));
  }

  /** Makes one mutation. All changes of records happen here. */
  change(kind: string, at: number, compose: (draft: Draft) => void): void {
    const draft = new Draft(this.#tables, at);
    compose(draft);
    const { writes } = draft;
    const touched = this.#touchedBy(writes);
    const before = touched.map(({ list, index }) => this.image(list, index));
    for (const write of writes) this.#apply(write);
    const number = ++this.#mutations;
    const changes = touched.flatMap(({ list, index, direct }, nth): RecordChange[] => {
      const [was, is] = [before[nth] ?? null, this.image(list, index)];
      if (JSON.stringify(was) === JSON.stringify(is)) return [];
      const previous = this.versionOf(list, index);
      return [{ list, index, id: this.idOf(list, index), before: was, after: is, direct, previous }];
    });
    for (const { list, index } of changes) this.#versions.set(`${list}:${index}`, number);
    const by = this.actor ?? actorOf(this.context.dice('history', number, 9), this.directory);
    const rows = changes.flatMap((change) => this.#creditsOf(change, by, at));
    const [late, soon] = this.writing === 'late' ? [rows, []] : [[], rows];
    this.#late.push(...late);
    this.#tell({ number, kind, at, by, changes: [...changes, ...this.#write(soon, number)] });
  }

  #tell(mutation: Mutation): void {
    for (const listener of this.#listeners) listener.mutated?.(mutation);
  }

  /** The rows that a change writes into history. */
  #creditsOf(change: RecordChange, by: Actor, at: number): Late[] {
    const list = this.#creditListOf(change.list);
    if (list === null) return [];
    const others = this.order(change.list);
    const another = (roll: Dice): number => others.at(roll.below(others.length)) ?? change.index;
    const facts = creditsOf(change, { by, at, writing: this.writing, another });
    return facts.map((each) => ({ due: at + LATE_MS, list, facts: each }));
  }

  #creditListOf(list: SandboxListName): CreditList | 'history' | null {
    if (list === DEAL) return this.#dealsWriteHistory ? 'history' : null;
    return CREDIT_LISTS.find((each) => CREDITED[each].record === list) ?? null;
  }

  #write(rows: readonly Late[], number: number): RecordChange[] {
    return rows.map(({ list, facts }) => {
      const { index } = this.#tables.of(list).newborn(facts.createdAt);
      const row = list === 'history' ? { ...facts, ...OF_DEAL, deal: facts.of } : facts;
      this.#apply({ kind: list, index, facts: row });
      this.#versions.set(`${list}:${index}`, number);
      const after = this.image(list, index);
      return { list, index, id: this.idOf(list, index), before: null, after, direct: true, previous: 0 };
    });
  }

  /** Renames a user, team, form …: every record that names it shows the new name, and no change timestamp moves. */
  rename(kind: RefKind, index: number, name: string, at: number): void {
    const renamed = this.directory.rename(kind, index, name);
    if (renamed === null) return;
    this.#generation++;
    for (const listener of this.#listeners) listener.renamed?.({ at, ...renamed });
  }

  #touchedBy(writes: readonly Write[]): { list: SandboxListName; index: number; direct: boolean }[] {
    const touched = new Map<string, { list: SandboxListName; index: number; direct: boolean }>();
    const touch = (kind: Kind, index: number, direct: boolean): void => {
      if (kind !== 'unlistedDeal' && (direct || !touched.has(`${kind}:${index}`)))
        touched.set(`${kind}:${index}`, { list: kind, index, direct });
    };
    for (const { kind, index } of writes) touch(kind, index, true);
    for (const { kind, index, facts } of writes) {
      for (const state of [this.facts(kind, index), facts]) {
        for (const [parent, at] of state === null ? [] : parentsOf(kind, state)) touch(parent, at, false);
      }
    }
    return [...touched.values()];
  }

  #apply({ kind, index, facts }: Write): void {
    const table = this.#tables.of(kind);
    const before = table.get(index);
    if (kind !== 'unlistedDeal') this.#orders.take(kind, index);
    (table as { put(index: number, facts: unknown): void }).put(index, facts);
    this.#links.move(kind, index, before, facts);
    if (kind !== 'unlistedDeal' && facts !== null) this.#orders.put(kind, index);
  }

  #changedAt(list: SandboxListName, index: number): number {
    const facts = this.facts(list, index);
    if (facts === null) return 0;
    return 'updatedAt' in facts ? facts.updatedAt : facts.createdAt;
  }

  /** How many records each list holds now. */
  get counts(): Readonly<Record<SandboxListName, number>> {
    return Object.fromEntries(this.lists.map(({ name }) => [name, this.order(name).length])) as Record<
      SandboxListName,
      number
    >;
  }
}

/** A row of deal history about a record of the list `deal`. */
const OF_DEAL = { isListed: true, person: null, organization: null, owner: null } as const;
