/** The seeded stream of mutations: one table of what happens and how often. */

import type { FurtherName } from '../world/lists.js';

/** The mutations of the stream. Without an id, each chooses its record at random. */
export interface Verbs {
  createPerson(): unknown;
  editPerson(): unknown;
  assignPerson(): unknown;
  submitForm(): unknown;
  enrol(): unknown;
  refuseMail(): unknown;
  createOrganization(): unknown;
  editOrganization(): unknown;
  assignOrganization(): unknown;
  createMemo(): unknown;
  editMemo(): unknown;
  createTodo(): unknown;
  editTodo(): unknown;
  completeTodo(): unknown;
  reopenTodo(): unknown;
  rescheduleTodo(): unknown;
  reassignTodo(): unknown;
  relinkTodo(): unknown;
  addActivity(): unknown;
  importActivity(): unknown;
  addHistory(): unknown;
  createDeal(): unknown;
  moveDeal(): unknown;
  mergePeople(): unknown;
  touch(list: 'people'): unknown;
  createIn(list: FurtherName): unknown;
  editIn(list: FurtherName): unknown;
  delete(list: 'people' | 'memo' | 'todo' | FurtherName): unknown;
}
export type LifeVerb = keyof Verbs;

export interface Act {
  readonly verb: LifeVerb;
  /** Relative to the sum of all weights. */
  readonly weight: number;
  readonly run: (life: Verbs) => unknown;
}

const act = (verb: LifeVerb, weight: number, run: (life: Verbs) => unknown): Act => ({ verb, weight, run });

export const STREAM: readonly Act[] = [
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
export function furtherActs(list: FurtherName): Act[] {
  return [
    act('editIn', 12, (life) => life.editIn(list)),
    act('createIn', 4, (life) => life.createIn(list)),
    act('delete', 2, (life) => life.delete(list)),
  ];
}
