/** What a complete sweep held back until a person accepts it. One form for removals and new records. */
import type { KnownShare } from './creation.js';

export interface Held {
  what: 'removals' | 'creations';
  /** `replaced`: hardly any of the records known before were seen again. */
  why: 'too many' | 'replaced';
  /** Records held. */
  count: number;
  /** Of so many: for removals, records of the list including the missing ones; for creations, records seen. */
  of: number;
  /** ISO 8601: the first sweep that held some. */
  since: string;
  /** ISO 8601: the sweep that held these. An acceptance covers what was held by then. */
  at: string;
  /** Creations: how many of the records known before were seen again. */
  known?: KnownShare;
  /** Creations: new records that were reported before they became too many. */
  reported?: number;
}

export function heldOf(held: readonly Held[] | undefined, what: Held['what']): Held | undefined {
  return held?.find((one) => one.what === what);
}
