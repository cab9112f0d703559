/** The mutations of the synthetic workspace: each by its name for tests, and a seeded stream of them (one table of what happens how often). */
import { ChangefeedError, usage } from '../../src/kit/errors.js';
import { trailing } from '../world/base-context.js';
import { furtherEdit, refusalOf } from '../world/base-records.js';
import { DIRECTORY_SIZES, type RefKind } from '../world/directory.js';
import type { FactsOf, FurtherFacts, Kind } from '../world/facts.js';
import { growsOnly, isFurther, type CreditList, type FurtherName, type SandboxListName } from '../world/lists.js';
import { dice, type Dice } from '../world/random.js';
import { memoText } from '../world/words.js';
import type { World } from '../world/world.js';
import * as contacts from './contacts.js';
import { another, created, customEdit, handOver, pick, type LifeContext } from './context.js';
import * as log from './log.js';
import * as notes from './notes.js';
import { editorOf, readFields, withCustom, type Texts } from './set-fields.js';

/** Rows of the other lists are only ever added. */
type Deletable = Exclude<SandboxListName, 'history' | 'activity' | CreditList>;
const DELETED = { people: 'person', organization: 'organization', memo: 'memo', todo: 'todo' } as const;

type Over<K extends Kind> = Partial<FactsOf[K]>;

const isOpen = ({ doneAt }: FactsOf['todo']): boolean => doneAt === null;
const isDone = ({ doneAt }: FactsOf['todo']): boolean => doneAt !== null;

/**
 * Each method makes one mutation and returns the id of its record. Without an id, a record is chosen at random. `over` sets
 * facts instead of a random edit: references are indexes (`owner: 2`), times are ms.
 * @throws ChangefeedError CF_USAGE for an unknown record, or when no record fits
 */
export class Life {
  readonly #context: LifeContext;

  constructor(world: World, now: () => number, seed: number) {
    const roll: Dice = dice(seed, 0x11fe);
    this.#context = { world, roll, now };
  }

  createPerson = (over?: Over<'people'>): string => this.#idOf('people', contacts.createPerson(this.#context, over));
  editPerson = (id?: string, over?: Over<'people'>): string =>
    this.#edit('people', 'edit-person', id, (facts, index) => over ?? contacts.personEdit(index, facts, this.#context));
  assignPerson = (id?: string): string =>
    this.#edit('people', 'assign-person', id, ({ owner }) => this.#otherOwner(owner));
  submitForm = (id?: string): string => this.#on('people', id, (index) => contacts.submitForm(this.#context, index));
  enrol = (id?: string): string => this.#on('people', id, (index) => contacts.enrol(this.#context, index));
  /** The person refuses mail, or accepts it again. */
  refuseMail = (id?: string): string =>
    this.#edit('people', 'refuse-mail', id, ({ refusal }) => ({
      refusal: refusal === null ? refusalOf(this.#context.roll) : null,
    }));

  createOrganization = (over?: Over<'organization'>): string =>
    this.#idOf('organization', contacts.createOrganization(this.#context, over));
  editOrganization = (id?: string, over?: Over<'organization'>): string =>
    this.#edit(
      'organization',
      'edit-organization',
      id,
      (facts, index) => over ?? customEdit(this.#context, 'organization', index, facts),
    );
  assignOrganization = (id?: string): string =>
    this.#edit('organization', 'assign-organization', id, ({ owner }) => this.#otherOwner(owner));

  createMemo = (over?: Over<'memo'>): string => this.#idOf('memo', notes.createMemo(this.#context, over));
  editMemo = (id?: string, over?: Over<'memo'>): string =>
    this.#edit(
      'memo',
      'edit-memo',
      id,
      ({ text }) => over ?? { text: `${text}\n(추가) ${memoText(this.#context.roll)}` },
    );

  createTodo = (over?: Over<'todo'>): string => this.#idOf('todo', notes.createTodo(this.#context, over));
  editTodo = (id?: string, over?: Over<'todo'>): string =>
    this.#edit('todo', 'edit-todo', id, (facts, index) => over ?? customEdit(this.#context, 'todo', index, facts));
  /** Sets 완료 날짜 and the change timestamp to the moment of completion. */
  completeTodo = (id?: string): string =>
    this.#edit('todo', 'complete-todo', id, (_facts, _index, at) => ({ doneAt: at, updatedAt: at }), isOpen);
  reopenTodo = (id?: string): string => this.#edit('todo', 'reopen-todo', id, () => ({ doneAt: null }), isDone);
  rescheduleTodo = (id?: string): string =>
    this.#edit('todo', 'reschedule-todo', id, (facts) => notes.later(facts, this.#context.roll), isOpen);
  reassignTodo = (id?: string): string =>
    this.#edit('todo', 'reassign-todo', id, ({ owner }) => this.#otherOwner(owner));
  /** Links the todo to another person: the counters of both change. */
  relinkTodo = (id?: string): string =>
    this.#edit('todo', 'relink-todo', id, ({ person }) => ({
      person: pick(this.#context, 'people', (_facts, each) => each !== person),
    }));

  /** A mail writes several rows; returns the id of the first. */
  addActivity = (peopleId?: string, over?: Over<'activity'>): string =>
    this.#idOf('activity', log.addActivity(this.#context, this.#find('people', peopleId), over));
  /** A new row with an old date. */
  importActivity = (peopleId?: string): string => this.addActivity(peopleId, log.imported(this.#context));
  addHistory = (over?: Over<'history'>): string =>
    this.#idOf('history', log.addHistory(this.#context, this.#deal(), over));
  /** @returns the id of the deal's person */
  createDeal = (peopleId?: string): string =>
    this.#on('people', peopleId, (index) => log.createDeal(this.#context, index));
  /** A deal is won, lost or reopened: counters change, change timestamps do not. */
  moveDeal = (): void => log.moveDeal(this.#context, this.#deal());

  /** Creates a record of a further list. */
  createIn = (list: string, over: Partial<FurtherFacts> = {}): string => {
    const name = this.#further(list);
    return this.#idOf(
      name,
      created(this.#context, 'create-record', (draft) => draft.create(name, over)),
    );
  };
  editIn = (list: string, id?: string, over?: Partial<FurtherFacts>): string => {
    const name = this.#further(list);
    return this.#edit(name, 'edit-record', id, (facts) => over ?? furtherEdit(name, this.#context.roll, facts));
  };
  deleteIn = (list: string, id?: string): string => this.delete(this.#further(list), id);

  /**
   * A person sets fields of one record, given as texts by their names; an empty text is no value. `by`: the name of who edits.
   * @defaultValue by: who is in charge of the record
   */
  set(list: string, id: string, values: Texts, by?: string): string {
    const { world, roll, now } = this.#context;
    const name = world.listNamed(list)?.name;
    if (name === undefined || growsOnly(name))
      throw usage(`The sandbox has no list "${list}" whose records are edited.`);
    const index = this.#find(name, id);
    const read = readFields(world, name, values, now());
    const actor = editorOf(world, world.facts(name, index) ?? {}, by);
    const before = world.actor;
    world.actor = actor;
    try {
      world.change('set-fields', now(), (draft) =>
        draft.edit(name, index, () => ({
          ...{ updatedAt: trailing(draft.at, roll), ...read.facts },
          ...withCustom(world, name, index, read.custom),
        })),
      );
    } finally {
      world.actor = before;
    }
    return id;
  }

  /** Moves the change timestamp and nothing else: a user saved a record without an edit. */
  touch = (list: 'people' | 'organization' | 'memo' | 'todo', id?: string): string =>
    this.#edit(list, 'touch', id, () => ({}));

  /** @returns the id of the remaining person */
  mergePeople(goneId?: string, keptId?: string): string {
    const gone = this.#find('people', goneId);
    const kept = this.#find('people', keptId, (_facts, index) => index !== gone);
    contacts.mergePeople(this.#context, gone, kept);
    return this.#idOf('people', kept);
  }

  /** Rows of history and activity cannot be deleted, as in the real service. */
  delete(list: Deletable, id?: string): string {
    return this.#on(list, id, (index) => {
      const { world, now } = this.#context;
      world.change(`delete-${isFurther(list) ? 'record' : DELETED[list]}`, now(), (draft) => {
        if (list === 'memo') notes.forgetParent(draft, index);
        else if (!isFurther(list) && list !== 'todo') handOver(draft, world, { list, index }, null);
        draft.put(list, index, null);
      });
    });
  }

  /** Every record that names this user, team, form … shows the new name. No change timestamp moves. */
  rename(kind: RefKind, index?: number, name?: string): void {
    const { roll, world, now } = this.#context;
    const which = index ?? roll.below(DIRECTORY_SIZES[kind]);
    world.rename(kind, which, name ?? `${world.directory.ref(kind, which)?.name ?? ''}'`, now());
  }

  /** Makes the next `count` mutations of the seeded stream. @returns their names */
  step(count = 1): LifeVerb[] {
    return Array.from({ length: count }, () => this.#next());
  }

  #next(): LifeVerb {
    const { world } = this.#context;
    const stream = [...STREAM, ...world.further.filter((list) => !world.isUnread(list)).flatMap(furtherActs)];
    const total = stream.reduce((sum, [, weight]) => sum + weight, 0);
    let at = this.#context.roll.below(total);
    const drawn = stream.findIndex(([, weight]) => (at -= weight) < 0);
    const inTurn = [...stream.slice(drawn), ...stream.slice(0, drawn)];
    // If a mutation is impossible (no open todo to complete), the next in the table is tried. Creating is always possible.
    const [verb] = inTurn.find(([, , run]) => this.#tried(() => run(this))) as Act;
    return verb;
  }

  #tried(run: () => unknown): boolean {
    try {
      run();
      return true;
    } catch (error) {
      if (error instanceof ChangefeedError && error.code === 'CF_USAGE') return false;
      throw error;
    }
  }

  #further(name: string): FurtherName {
    const list = this.#context.world.further.find((each) => each === name);
    if (list !== undefined) return list;
    throw usage(`The sandbox was created without a further list "${name}".`);
  }

  #deal(): number {
    const deal = log.pickDeal(this.#context);
    if (deal === null) throw nothing('deal');
    return deal;
  }

  /** Edits one record, chosen at random without an id, and its change timestamp. */
  #edit<K extends Deletable>(
    list: K,
    kind: string,
    id: string | undefined,
    edit: (facts: FactsOf[K], index: number, at: number) => Partial<FactsOf[K]>,
    fits?: (facts: FactsOf[K]) => boolean,
  ): string {
    const { world, roll, now } = this.#context;
    const run = (index: number): void =>
      world.change(kind, now(), (draft) =>
        draft.edit(list, index, (facts) => ({ updatedAt: trailing(draft.at, roll), ...edit(facts, index, draft.at) })),
      );
    return this.#on(list, id, run, fits);
  }

  #otherOwner(owner: number | null): { owner: number } {
    return { owner: another(this.#context.roll, DIRECTORY_SIZES.user, owner) };
  }

  #on<K extends SandboxListName>(
    list: K,
    id: string | undefined,
    run: (index: number) => void,
    fits?: (facts: FactsOf[K]) => boolean,
  ): string {
    const index = this.#find(list, id, fits);
    run(index);
    return this.#idOf(list, index);
  }

  #find<K extends SandboxListName>(
    list: K,
    id: string | undefined,
    fits?: (facts: FactsOf[K], index: number) => boolean,
  ): number {
    const { world } = this.#context;
    if (id === undefined) {
      const picked = pick(this.#context, list, fits);
      if (picked === null) throw nothing(list);
      return picked;
    }
    const index = world.indexOf(list, id);
    if (index === null || world.facts(list, index) === null) {
      throw usage(`The sandbox has no record "${id}" in the list "${list}".`);
    }
    return index;
  }

  #idOf(list: SandboxListName, index: number): string {
    return this.#context.world.idOf(list, index);
  }
}

function nothing(what: string): ChangefeedError {
  return usage(`The sandbox has no ${what} for this mutation.`);
}

export type LifeVerb = keyof Life;

/** Mutations of the seeded stream. Weights are relative to their sum. */
type Act = readonly [verb: LifeVerb, weight: number, run: (life: Life) => unknown];

const STREAM: readonly Act[] = [
  ['editPerson', 14, (life) => life.editPerson()],
  ['assignPerson', 6, (life) => life.assignPerson()],
  ['createMemo', 12, (life) => life.createMemo()],
  ['createTodo', 12, (life) => life.createTodo()],
  ['completeTodo', 10, (life) => life.completeTodo()],
  ['reopenTodo', 3, (life) => life.reopenTodo()],
  ['rescheduleTodo', 4, (life) => life.rescheduleTodo()],
  ['reassignTodo', 3, (life) => life.reassignTodo()],
  ['relinkTodo', 2, (life) => life.relinkTodo()],
  ['editTodo', 3, (life) => life.editTodo()],
  ['addActivity', 8, (life) => life.addActivity()],
  ['importActivity', 1, (life) => life.importActivity()],
  ['addHistory', 6, (life) => life.addHistory()],
  ['createDeal', 2, (life) => life.createDeal()],
  ['moveDeal', 4, (life) => life.moveDeal()],
  ['editOrganization', 4, (life) => life.editOrganization()],
  ['assignOrganization', 1, (life) => life.assignOrganization()],
  ['editMemo', 3, (life) => life.editMemo()],
  ['submitForm', 3, (life) => life.submitForm()],
  ['enrol', 2, (life) => life.enrol()],
  ['refuseMail', 1, (life) => life.refuseMail()],
  ['touch', 2, (life) => life.touch('people')],
  ['createPerson', 4, (life) => life.createPerson()],
  ['createOrganization', 1, (life) => life.createOrganization()],
  ['delete', 2, (life) => life.delete('todo')],
  ['delete', 1, (life) => life.delete('memo')],
  ['delete', 1, (life) => life.delete('people')],
  ['mergePeople', 1, (life) => life.mergePeople()],
];

/** The mutations of one further list. */
function furtherActs(list: FurtherName): Act[] {
  return [
    ['editIn', 12, (life) => life.editIn(list)],
    ['createIn', 4, (life) => life.createIn(list)],
    ['delete', 2, (life) => life.delete(list)],
  ];
}
