/** Changes that a complete sweep holds back until a person accepts them. One form for removals and new records. */
import { z } from 'zod';

export const heldSchema = z.object({
  what: z.enum(['removals', 'creations']),
  /**
   * `replaced`: hardly any of the records known before were seen again. `creations`: new records are held. `unreadable`: rows without an id
   * that can be read may be the missing records.
   */
  why: z.enum(['too many', 'replaced', 'creations', 'unreadable']),
  count: z.number(),
  /** The number of which `count` is a part: for removals, records of the list including the missing ones; for creations, records seen. */
  of: z.number(),
  /** ISO 8601: the first sweep that held some. */
  since: z.iso.datetime(),
  /** ISO 8601: the sweep that held these. An acceptance covers what was held by then. */
  at: z.iso.datetime(),
  /** Creations: how many of the records known before were seen again. */
  known: z.object({ seen: z.number(), of: z.number() }).exactOptional(),
  /** Creations: new records that were reported before they became too many. */
  reported: z.number().exactOptional(),
});
export type Held = z.infer<typeof heldSchema>;

/** New and missing records are decided apart. */
export const HELD_KINDS = ['creations', 'removals'] as const satisfies readonly Held['what'][];

/** When a person decided about held records of one kind, ISO 8601: what was held by then is accepted, or discarded. Null: no person did. */
export interface Decided {
  acceptedAt: string | null;
  discardedAt: string | null;
}

/** A record that is held. Kept apart from the summary, which the status shows: a title is a record's content. */
export const heldExample = z.object({ id: z.string(), title: z.string().nullable() });
export type HeldExample = z.infer<typeof heldExample>;

export function heldOf(held: readonly Held[] | undefined, what: Held['what']): Held | undefined {
  return held?.find((one) => one.what === what);
}
