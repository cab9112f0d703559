/**
 * The cursors that the server has given out: when, and what their page was at that moment. So a cursor that a client keeps can show
 * an old page later, while a walk, which uses each cursor at once, is answered correctly.
 */
import type { SandboxListName } from '../world/lists.js';
import type { SourceAnswer } from '../../server/read-api/source.js';
import type { Behaviour } from '../faults/behaviour.js';

interface GivenCursor {
  /** When it was given out last; ms. */
  readonly at: number;
  /** Its page as it was then. */
  readonly answer: SourceAnswer;
}

// Enough for the cursors of several lists; bounded because clients may never use them.
const KEPT = 200_000;

export class GivenCursors {
  readonly #given = new Map<string, GivenCursor>();

  /** The page of a cursor that was given out so long ago; null for any other. */
  old(list: SandboxListName, cursor: string, now: number, { cursorLifetimeMs }: Behaviour): SourceAnswer | null {
    const given = this.#given.get(`${list} ${cursor}`);
    return given !== undefined && now - given.at > cursorLifetimeMs ? given.answer : null;
  }

  give(list: SandboxListName, cursor: string, given: GivenCursor): void {
    const key = `${list} ${cursor}`;
    this.#given.delete(key);
    this.#given.set(key, given);
    if (this.#given.size > KEPT) this.#given.delete(this.#given.keys().next().value ?? '');
  }
}
