/**
 * The cursors that the server has given out: when, and what their page was at that moment. So a cursor that a client keeps can mean
 * something else later, while a walk, which uses each cursor at once, is answered correctly.
 */
import type { SandboxListName } from '../world/lists.js';
import { hash32 } from '../world/random.js';
import type { SourceAnswer } from '../../server/read-api/source.js';
import type { Behaviour } from '../faults/behaviour.js';

export interface GivenCursor {
  /** When it was given out last; ms. */
  readonly at: number;
  /** Its page as it was then. Null unless the switch `keptCursors` needs it. */
  readonly answer: SourceAnswer | null;
}

// Enough for the cursors of several lists; bounded because clients may never use them.
const KEPT = 200_000;

export class GivenCursors {
  readonly #given = new Map<string, GivenCursor>();

  get(list: SandboxListName, cursor: string): GivenCursor | null {
    return this.#given.get(`${list} ${cursor}`) ?? null;
  }

  give(list: SandboxListName, cursor: string, given: GivenCursor): void {
    const key = `${list} ${cursor}`;
    this.#given.delete(key);
    this.#given.set(key, given);
    if (this.#given.size > KEPT) this.#given.delete(this.#given.keys().next().value ?? '');
  }
}

export function isOutOfTime(given: GivenCursor | null, now: number, { cursorLifetimeMs }: Behaviour): boolean {
  return given !== null && now - given.at > cursorLifetimeMs;
}

/** Where the page of a kept cursor begins, for the switches that move it. */
export function movedPosition(from: number, cursor: string, length: number, kept: Behaviour['keptCursors']): number {
  if (kept === 'shifted') return Math.min(length, from + 1);
  if (kept !== 'reassigned' || length === 0) return from;
  return hash32(...Buffer.from(cursor)) % length;
}
