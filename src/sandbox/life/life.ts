/** The mutations of the synthetic workspace: each by its name for tests, and a seeded stream of them (one table of what happens how often). */
import { ChangefeedError } from '../../errors.js';
import { isFurther, type FurtherName, type SandboxListName } from '../world/lists.js';
import type { RefKind } from '../world/directory.js';
import { DIRECTORY_SIZES } from '../world/directory.js';
import type {
  ActivityFacts,
  FactsOf,
  FurtherFacts,
  HistoryFacts,
  MemoFacts,
  OrganizationFacts,
  PersonFacts,
  TodoFacts,
} from '../world/facts.js';
import { dice, type Dice } from '../world/random.js';
import type { World } from '../world/world.js';
import * as contacts from './contacts.js';
import * as further from './further.js';
import { pick, type LifeContext } from './context.js';
import * as log from './log.js';
import * as notes from './notes.js';

const isOpen = ({ doneAt }: TodoFacts): boolean => doneAt === null;
const isDone = ({ doneAt }: TodoFacts): boolean => doneAt !== null;

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

  createPerson = (over?: Partial<PersonFacts>): string =>
    this.#idOf('people', contacts.createPerson(this.#context, over));
  editPerson = (id?: string, over?: Partial<PersonFacts>): string =>
    this.#on('people', id, (index) => contacts.editPerson(this.#context, index, over));
  assignPerson = (id?: string): string =>
    this.#on('people', id, (index) => contacts.assign(this.#context, 'people', index));
  submitForm = (id?: string): string => this.#on('people', id, (index) => contacts.submitForm(this.#context, index));
  enrol = (id?: string): string => this.#on('people', id, (index) => contacts.enrol(this.#context, index));
  refuseMail = (id?: string): string => this.#on('people', id, (index) => contacts.refuse(this.#context, index));

  createOrganization = (over?: Partial<OrganizationFacts>): string =>
    this.#idOf('organization', contacts.createOrganization(this.#context, over));
  editOrganization = (id?: string, over?: Partial<OrganizationFacts>): string =>
    this.#on('organization', id, (index) => contacts.editOrganization(this.#context, index, over));
  assignOrganization = (id?: string): string =>
    this.#on('organization', id, (index) => contacts.assign(this.#context, 'organization', index));

  createMemo = (over?: Partial<MemoFacts>): string => this.#idOf('memo', notes.createMemo(this.#context, over));
  editMemo = (id?: string, over?: Partial<MemoFacts>): string =>
    this.#on('memo', id, (index) => notes.editMemo(this.#context, index, over));

  createTodo = (over?: Partial<TodoFacts>): string => this.#idOf('todo', notes.createTodo(this.#context, over));
  editTodo = (id?: string, over?: Partial<TodoFacts>): string =>
    this.#on('todo', id, (index) => notes.editTodo(this.#context, index, over));
  completeTodo = (id?: string): string =>
    this.#on('todo', id, (index) => notes.completeTodo(this.#context, index), isOpen);
  reopenTodo = (id?: string): string => this.#on('todo', id, (index) => notes.reopenTodo(this.#context, index), isDone);
  rescheduleTodo = (id?: string): string =>
    this.#on('todo', id, (index) => notes.rescheduleTodo(this.#context, index), isOpen);
  reassignTodo = (id?: string): string => this.#on('todo', id, (index) => notes.reassignTodo(this.#context, index));
  relinkTodo = (id?: string): string => this.#on('todo', id, (index) => notes.relinkTodo(this.#context, index));

  /** A mail writes several rows; returns the id of the first. */
  addActivity = (peopleId?: string, over?: Partial<ActivityFacts>): string =>
    this.#idOf('activity', log.addActivity(this.#context, this.#find('people', peopleId), over));
  /** A new row with an old date. */
  importActivity = (peopleId?: string): string =>
    this.#idOf('activity', log.importActivity(this.#context, this.#find('people', peopleId)));
  addHistory = (over?: Partial<HistoryFacts>): string =>
    this.#idOf('history', log.addHistory(this.#context, this.#deal(), over));
  /** @returns the id of the deal's person */
  createDeal = (peopleId?: string): string =>
    this.#on('people', peopleId, (index) => log.createDeal(this.#context, index));
  /** A deal is won, lost or reopened: counters change, change timestamps do not. */
  moveDeal = (): void => log.moveDeal(this.#context, this.#deal());

  /** Creates a record of a further list. */
  createIn = (list: string, over?: Partial<FurtherFacts>): string => {
    const name = this.#further(list);
    return this.#idOf(name, further.createIn(this.#context, name, over));
  };
  editIn = (list: string, id?: string, over?: Partial<FurtherFacts>): string => {
    const name = this.#further(list);
    return this.#on(name, id, (index) => further.editIn(this.#context, name, index, over));
  };
  deleteIn = (list: string, id?: string): string => this.delete(this.#further(list), id);

  /** Moves the change timestamp and nothing else. */
  touch = (list: 'people' | 'organization' | 'memo' | 'todo', id?: string): string =>
    this.#on(list, id, (index) => contacts.touch(this.#context, list, index));

  /** @returns the id of the remaining person */
  mergePeople(goneId?: string, keptId?: string): string {
    const gone = this.#find('people', goneId);
    const kept = this.#find('people', keptId, (_facts, index) => index !== gone);
    contacts.mergePeople(this.#context, gone, kept);
    return this.#idOf('people', kept);
  }

  /** Rows of history and activity cannot be deleted, as in the real service. */
  delete(list: 'people' | 'organization' | 'memo' | 'todo' | FurtherName, id?: string): string {
    return this.#on(list, id, (index) => {
      if (isFurther(list)) further.deleteIn(this.#context, list, index);
      else if (list === 'memo') notes.deleteMemo(this.#context, index);
      else if (list === 'todo') notes.deleteTodo(this.#context, index);
      else contacts.deleteContact(this.#context, list, index);
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
    const total = stream.reduce((sum, { weight }) => sum + weight, 0);
    let at = this.#context.roll.below(total);
    const drawn = stream.findIndex(({ weight }) => (at -= weight) < 0);
    // If a mutation is impossible (no open todo to complete), the next in the table is tried. Creating is always possible.
    for (let tries = 0; tries < stream.length; tries++) {
      const act = stream[(drawn + tries) % stream.length];
      if (act !== undefined && this.#tried(() => act.run(this))) return act.verb;
    }
    this.createPerson();
    return 'createPerson';
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
    throw new ChangefeedError('CF_USAGE', { message: `The sandbox was created without a further list "${name}".` });
  }

  #deal(): number {
    const deal = log.pickDeal(this.#context);
    if (deal === null) throw nothing('deal');
    return deal;
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
      throw new ChangefeedError('CF_USAGE', {
        message: `The sandbox has no record "${id}" in the list "${list}".`,
        list,
      });
    }
    return index;
  }

  #idOf(list: SandboxListName, index: number): string {
    return this.#context.world.idOf(list, index);
  }
}

function nothing(what: string): ChangefeedError {
  return new ChangefeedError('CF_USAGE', { message: `The sandbox has no ${what} for this mutation.` });
}

export type LifeVerb = keyof Life;

/** A mutation of the seeded stream. */
interface Act {
  readonly verb: LifeVerb;
  /** Relative to the sum of all weights. */
  readonly weight: number;
  readonly run: (life: Life) => unknown;
}

const act = (verb: LifeVerb, weight: number, run: (life: Life) => unknown): Act => ({ verb, weight, run });

const STREAM: readonly Act[] = [
  act('editPerson', 14, (life) => life.editPerson()),
  act('assignPerson', 6, (life) => life.assignPerson()),
  act('createMemo', 12, (life) => life.createMemo()),
  act('createTodo', 12, (life) => life.createTodo()),
  act('completeTodo', 10, (life) => life.completeTodo()),
  act('reopenTodo', 3, (life) => life.reopenTodo()),
  act('rescheduleTodo', 4, (life) => life.rescheduleTodo()),
  act('reassignTodo', 3, (life) => life.reassignTodo()),
  act('relinkTodo', 2, (life) => life.relinkTodo()),
  act('editTodo', 3, (life) => life.editTodo()),
  act('addActivity', 8, (life) => life.addActivity()),
  act('importActivity', 1, (life) => life.importActivity()),
  act('addHistory', 6, (life) => life.addHistory()),
  act('createDeal', 2, (life) => life.createDeal()),
  act('moveDeal', 4, (life) => life.moveDeal()),
  act('editOrganization', 4, (life) => life.editOrganization()),
  act('assignOrganization', 1, (life) => life.assignOrganization()),
  act('editMemo', 3, (life) => life.editMemo()),
  act('submitForm', 3, (life) => life.submitForm()),
  act('enrol', 2, (life) => life.enrol()),
  act('refuseMail', 1, (life) => life.refuseMail()),
  act('touch', 2, (life) => life.touch('people')),
  act('createPerson', 4, (life) => life.createPerson()),
  act('createOrganization', 1, (life) => life.createOrganization()),
  act('delete', 2, (life) => life.delete('todo')),
  act('delete', 1, (life) => life.delete('memo')),
  act('delete', 1, (life) => life.delete('people')),
  act('mergePeople', 1, (life) => life.mergePeople()),
];

/** The mutations of one further list. */
function furtherActs(list: FurtherName): Act[] {
  return [
    act('editIn', 12, (life) => life.editIn(list)),
    act('createIn', 4, (life) => life.createIn(list)),
    act('delete', 2, (life) => life.delete(list)),
  ];
}
