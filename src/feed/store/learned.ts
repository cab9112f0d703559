/** What shortcuts learn and keep. */
import { z } from 'zod';

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
export type Learned = z.infer<typeof learnedSchema>;
