/** Follows clients by their cursors, to detect when one has read a whole list. */
import { isoTime } from '../../runtime/clock.js';
import type { PageShown } from '../paging/pager.js';
import type { WalkLine } from './lines.js';

// Bounded, because a client may start walks and never finish them.
const MOST = 100_000;

export class Walks {
  /** When the walk that got this cursor began. If two walks have the same cursor, the later one counts: it has seen less. */
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
