/** The lines of a journal: what changed in the synthetic workspace, and when a page first showed it. Times are ISO 8601. */
import { z } from 'zod';

export const imageSchema = z.looseObject({ id: z.string() }).nullable();

/** One record changed. All lines of one mutation share its number. */
const mutation = z.object({
  line: z.literal('mutation'),
  /** 1, 2, 3 … in order of time. */
  mutation: z.number(),
  /** `complete-todo`, `merge-people` … */
  kind: z.string(),
  list: z.string(),
  id: z.string(),
  at: z.string(),
  /** `follows`: only fields that the system maintains changed, because another record changed. */
  cause: z.enum(['direct', 'follows']),
  /** Who made the change: a user, a program (`workflow`, `api`, `sequence`) or the system (`field`). Older journals do not say it. */
  actor: z.object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() }).optional(),
  /** Null: the record was created. */
  before: imageSchema,
  /** Null: the record was removed. */
  after: imageSchema,
  /**
   * When a page with this change was first delivered completely (for a removal: the page that would have had the record). In a
   * file it is null, and a `visible` line follows later. It stays null if the change was overwritten unseen.
   */
  visibleAt: z.string().nullable(),
});

const visible = z.object({
  line: z.literal('visible'),
  mutation: z.number(),
  list: z.string(),
  id: z.string(),
  at: z.string(),
});

/** A client read a list from its first page to its end. */
const walk = z.object({ line: z.literal('walk'), list: z.string(), startedAt: z.string(), endedAt: z.string() });

/** A user, team, form … was renamed. Records that name it show the new name, but did not change themselves. */
const rename = z.object({
  line: z.literal('rename'),
  at: z.string(),
  id: z.string(),
  before: z.string(),
  after: z.string(),
});

/** The rendering of all records changed (a key added to every row, timestamps cut …). No record changed. */
const rules = z.object({ line: z.literal('rules'), at: z.string(), rules: z.record(z.string(), z.unknown()) });

export const journalLine = z.discriminatedUnion('line', [mutation, visible, walk, rename, rules]);

export type MutationLine = Readonly<z.output<typeof mutation>>;
export type WalkLine = Readonly<z.output<typeof walk>>;
export type JournalLine = Readonly<z.output<typeof journalLine>>;
