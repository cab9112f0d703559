/** Follows clients by the cursors they come back with, to know when one has seen a whole list. */
import { isoTime } from '../../runtime/clock.js';
import type { PageShown } from '../paging/pager.js';
import type { WalkLine } from './lines.js';

// A client that keeps opening walks must not make the sandbox grow.
const MOST = 100_000;

export class Walks {
  /** When the walk began that was given this cursor. With two walks at the same cursor the later one: it has seen less. */
  readonly #startedAt = new Map<string, number>();

  shown({ list, askedAt, cursor, nextCursor, end }: PageShown, now: number): WalkLine | null {
    const startedAt = cursor === null ? askedAt : this.#startedAt.get(`${list} ${cursor}`);
    if (startedAt === undefined) return null;
    if (end) return { line: 'walk', list, startedAt: isoTime(startedAt), endedAt: isoTime(now) };
    const key = `${list} ${nextCursor ?? ''}`;
    this.#startedAt.delete(key);
    this.#startedAt.set(key, startedAt);
    const oldest = this.#startedAt.keys().next();
    if (this.#startedAt.size > MOST && oldest.done !== true) this.#startedAt.delete(oldest.value);
    return null;
  }
}
