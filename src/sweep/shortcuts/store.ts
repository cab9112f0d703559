/** What shortcuts learn and keep, and the queue of the records that are named to them. `state` implements the queue on Redis. */
import { z } from 'zod';
import type { ListName } from '../../crm/lists/lists.js';

/** The two ends at which a list may grow, the pages that hold a named record, and those that hold open ones. */
export type Kind = EndName | 'aimed' | 'open';
export type EndName = 'last' | 'first';

const count = z.number().nonnegative();
const uses = z.object({ used: count, useful: count, wrong: count });
/** How often pages of a kind were read, showed a change before the walk did, and were wrong. Only for the status. */
export type Uses = z.infer<typeof uses>;
export const NO_USES: Uses = { used: 0, useful: 0, wrong: 0 };

export const learnedSchema = z.object({
  live: z.boolean(),
  uses: z.object({ last: uses, first: uses, aimed: uses, open: uses.default(NO_USES) } satisfies Record<Kind, object>),
  rates: z.record(z.string(), z.object({ found: count, of: count, atMs: z.number() })),
});
/** What is kept for the next process. */
export type Learned = z.infer<typeof learnedSchema>;

/** Ids that records and hints name, per list, most recent first. Shared by all processes of a workspace. */
export interface AimQueue {
  /**
   * Adds ids, or moves them to the front. The oldest are dropped where there are too many.
   * @param named.by what names them: HINT (crm/hint.ts), or the type of an event
   */
  add(list: ListName, ids: readonly string[], named: { by: string; atMs: number }): Promise<void>;
  /** Takes the most recent ids out of the queue. An id is there once for each that names it. */
  take(list: ListName, count: number): Promise<Aimed[]>;
}

export interface Aimed {
  id: string;
  /** What named it. */
  by: string;
  /** When it was named, ms since the epoch. */
  atMs: number;
}
