/** What may happen in the workspace, by name, with the lists that it affects. */
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import type { Life } from '../../sandbox/life/life.js';

interface Act {
  lists: readonly BuiltInList[];
  run: (life: Life) => unknown;
  /** Does not affect the drifting fields or the number of records. */
  duringDrift?: true;
}

const PEOPLE: BuiltInList[] = ['people'];
const ORGANIZATION: BuiltInList[] = ['organization'];
const CONTACTS: BuiltInList[] = ['people', 'organization'];
const MEMO: BuiltInList[] = ['memo'];
const TODO: BuiltInList[] = ['todo'];

const acts = {
  'edit-person': { lists: PEOPLE, run: (life) => life.editPerson() },
  'assign-person': { lists: PEOPLE, run: (life) => life.assignPerson(), duringDrift: true },
  'submit-form': { lists: ['people', 'activity'], run: (life) => life.submitForm(), duringDrift: true },
  enrol: { lists: PEOPLE, run: (life) => life.enrol(), duringDrift: true },
  'refuse-mail': { lists: PEOPLE, run: (life) => life.refuseMail(), duringDrift: true },
  'create-person': { lists: ['people', 'activity'], run: (life) => life.createPerson() },
  'delete-person': { lists: ['people', 'memo', 'todo', 'history', 'activity'], run: (life) => life.delete('people') },
  'merge-people': { lists: ['people', 'activity', 'memo', 'todo'], run: (life) => life.mergePeople() },
  'touch-person': { lists: PEOPLE, run: (life) => life.touch('people'), duringDrift: true },
  'move-deal': { lists: [...CONTACTS, 'history'], run: (life) => life.moveDeal() },
  'create-deal': { lists: [...CONTACTS, 'history'], run: (life) => life.createDeal() },
  'edit-organization': { lists: ORGANIZATION, run: (life) => life.editOrganization() },
  'assign-organization': { lists: ORGANIZATION, run: (life) => life.assignOrganization() },
  'create-organization': { lists: ORGANIZATION, run: (life) => life.createOrganization() },
  'delete-organization': { lists: CONTACTS, run: (life) => life.delete('organization') },
  'touch-organization': { lists: ORGANIZATION, run: (life) => life.touch('organization') },
  'create-memo': { lists: [...CONTACTS, 'memo', 'activity'], run: (life) => life.createMemo() },
  'edit-memo': { lists: [...CONTACTS, 'memo'], run: (life) => life.editMemo(), duringDrift: true },
  'delete-memo': { lists: [...CONTACTS, 'memo'], run: (life) => life.delete('memo') },
  'touch-memo': { lists: MEMO, run: (life) => life.touch('memo'), duringDrift: true },
  'create-todo': { lists: [...CONTACTS, 'todo', 'activity'], run: (life) => life.createTodo() },
  'edit-todo': { lists: TODO, run: (life) => life.editTodo(), duringDrift: true },
  'complete-todo': { lists: [...CONTACTS, 'todo'], run: (life) => life.completeTodo(), duringDrift: true },
  'reopen-todo': { lists: [...CONTACTS, 'todo'], run: (life) => life.reopenTodo(), duringDrift: true },
  'reschedule-todo': { lists: TODO, run: (life) => life.rescheduleTodo(), duringDrift: true },
  'reassign-todo': { lists: TODO, run: (life) => life.reassignTodo(), duringDrift: true },
  'relink-todo': { lists: [...CONTACTS, 'todo'], run: (life) => life.relinkTodo() },
  'delete-todo': { lists: [...CONTACTS, 'todo'], run: (life) => life.delete('todo') },
  'touch-todo': { lists: TODO, run: (life) => life.touch('todo'), duringDrift: true },
  'add-activity': { lists: ['activity'], run: (life) => life.addActivity() },
  'import-activity': { lists: ['activity'], run: (life) => life.importActivity() },
  restore: { lists: [...CONTACTS, 'memo', 'todo'], run: () => undefined },
  'add-history': { lists: ['history'], run: (life) => life.addHistory() },
} satisfies Record<string, Act>;
export type ActName = keyof typeof acts;
export const ACTS: Readonly<Record<ActName, Act>> = acts;

export const DRIFTING_LISTS: readonly BuiltInList[] = ['people', 'memo', 'todo'];
