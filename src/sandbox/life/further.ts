/** Mutations of the records of further lists. */
import { furtherEdit, furtherValues } from '../world/base-further.js';
import type { FurtherFacts } from '../world/facts.js';
import type { FurtherName } from '../world/lists.js';
import { bornNow, trailing, type LifeContext } from './context.js';

export function createIn(context: LifeContext, list: FurtherName, over?: Partial<FurtherFacts>): number {
  const { world, roll } = context;
  let created = -1;
  world.change('create-record', context.now(), (draft) => {
    const updatedAt = trailing(draft.at, roll);
    created = draft.create(list, { ...bornNow(draft.at), updatedAt, ...furtherValues(roll), ...over });
  });
  return created;
}

export function editIn(context: LifeContext, list: FurtherName, index: number, over?: Partial<FurtherFacts>): void {
  const { world, roll } = context;
  world.change('edit-record', context.now(), (draft) => {
    draft.edit(list, index, (facts) => ({
      ...(over ?? furtherEdit(roll, facts)),
      updatedAt: trailing(draft.at, roll),
    }));
  });
}

export function deleteIn({ world, now }: LifeContext, list: FurtherName, index: number): void {
  world.change('delete-record', now(), (draft) => draft.put(list, index, null));
}
