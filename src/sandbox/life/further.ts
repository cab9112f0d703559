/** Mutations of the records of further lists. */
import { furtherEdit } from '../world/base-records.js';
import type { FurtherFacts } from '../world/facts.js';
import type { FurtherName } from '../world/lists.js';
import { created, edited, type LifeContext } from './context.js';

export function createIn(context: LifeContext, list: FurtherName, over?: Partial<FurtherFacts>): number {
  return created(context, 'create-record', (draft) => draft.create(list, over ?? {}));
}

export function editIn(context: LifeContext, list: FurtherName, index: number, over?: Partial<FurtherFacts>): void {
  edited(context, 'edit-record', [list, index], (facts) => over ?? furtherEdit(list, context.roll, facts));
}

export function deleteIn({ world, now }: LifeContext, list: FurtherName, index: number): void {
  world.change('delete-record', now(), (draft) => draft.put(list, index, null));
}
