/** What a sweep keeps in memory from page to page. */
import type { ListName } from '../../crm/lists/lists.js';
import { UNCONFIRMED } from '../detect/removal.js';
import { TrackedFields, type SchemaTally } from '../detect/schema-drift/schema.js';
import type { Checkpoint } from '../store/sweep-state.js';
import type { SweepStore } from '../store/sweep-store.js';

export interface SweepMemory {
  schema: SchemaTally;
  tracked: TrackedFields;
  /** Key → first page that showed it, of the pages compared. One also on an unchanged page counts twice. */
  seen: Map<string, number>;
  /** The page before was skipped: its records are not among those seen. */
  skipped: boolean;
  /** There are unconfirmed ids: see UNCONFIRMED in detect/removal.ts. */
  hasUnconfirmed: boolean;
}

export async function restoreMemory(
  store: SweepStore,
  list: ListName,
  { pages }: Pick<Checkpoint, 'pages'>,
): Promise<SweepMemory> {
  const [schema, unconfirmed, walked] = await Promise.all([
    store.schema(list),
    store.members(list, UNCONFIRMED),
    store.walkedMembers(list),
  ]);
  const seen = new Map<string, number>();
  for (const [page, keys] of walked) for (const key of keys) if (!seen.has(key)) seen.set(key, page);
  return { schema, tracked: new TrackedFields(schema), seen, skipped: pages > 0, hasUnconfirmed: unconfirmed !== null };
}
