/** Records every mutation and when a client could first see it, from the world's mutations and the delivered pages. */
import type { SandboxListName } from '../world/lists.js';
import { isoTime } from '../../src/kit/clock.js';
import type { PageShown } from '../paging/pager.js';
import { SYSTEM } from '../world/credits.js';
import type { Mutation, RecordChange, Rename } from '../world/mutation.js';
import type { JournalLine, MutationLine, WalkLine } from './lines.js';

export interface JournalOptions {
  now: () => number;
  /** How many lines are kept in memory; the oldest are dropped first. */
  keep: number;
  /** Whether changes of this list are left out. */
  leavesOut: (list: SandboxListName) => boolean;
  /** Called with every new line. */
  write: (line: JournalLine) => void;
  /** The record as all clients get it (field names, timestamps), without what differs from request to request. */
  render: (list: SandboxListName, record: MutationLine['before']) => MutationLine['before'];
}

type WritableLine = { -readonly [K in keyof MutationLine]: MutationLine[K] };

// Versions of one record that wait to be seen. An older version could only be shown by a snapshot.
const WAITING = 8;
// Walks that are followed. Bounded, because a client may start walks and never finish them.
const MOST_WALKS = 100_000;

interface Pending {
  readonly version: number;
  readonly entry: WritableLine;
}

export class Journal {
  readonly #options: JournalOptions;
  #lines: JournalLine[] = [];
  #dropped = 0;
  /** Mutations that no client has seen yet, by list and row. */
  readonly #pending = new Map<SandboxListName, Map<number, Pending[]>>();
  readonly #walks = new Walks();

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** All lines, oldest first, with `visibleAt` filled in. */
  lines(): readonly JournalLine[] {
    return this.#lines;
  }

  /** Number of lines dropped to limit memory. */
  get dropped(): number {
    return this.#dropped;
  }

  mutated(mutation: Mutation): void {
    for (const change of mutation.changes) {
      if (this.#options.leavesOut(change.list)) continue;
      const entry = this.#entryOf(mutation, change);
      this.#add(entry);
      const rows = this.#pending.get(change.list) ?? new Map<number, Pending[]>();
      const waiting = rows.get(change.index) ?? [];
      waiting.push({ version: mutation.number, entry });
      if (waiting.length > WAITING) waiting.shift();
      this.#pending.set(change.list, rows.set(change.index, waiting));
    }
  }

  renamed({ at, before, after }: Rename): void {
    this.#add({ line: 'rename', at: isoTime(at), id: before.id, before: before.name, after: after.name });
  }

  ruled(rules: Readonly<Record<string, unknown>>): void {
    this.#add({ line: 'rules', at: isoTime(this.#options.now()), rules });
  }

  /** A page was delivered completely. */
  shown(page: PageShown): void {
    const pending = this.#pending.get(page.list);
    if (pending !== undefined && pending.size > 0) this.#mark(page, pending);
    const walk = this.#walks.shown(page, this.#options.now());
    if (walk !== null) this.#add(walk);
  }

  #mark(page: PageShown, pending: Map<number, Pending[]>): void {
    for (const { index, version } of page.rows) this.#see(pending, index, version);
    for (const [index, waiting] of pending) {
      const newest = waiting.at(-1);
      if (newest === undefined || newest.entry.after !== null || newest.version > page.view.mutations) continue;
      if (page.covers(index)) this.#see(pending, index, newest.version);
    }
  }

  /** This version is visible now; older versions that still wait will never be. */
  #see(pending: Map<number, Pending[]>, index: number, version: number): void {
    const waiting = pending.get(index);
    if (waiting === undefined) return;
    const at = isoTime(this.#options.now());
    for (const { entry } of waiting.filter((each) => each.version === version)) {
      entry.visibleAt = at;
      this.#options.write({ line: 'visible', mutation: entry.mutation, list: entry.list, id: entry.id, at });
    }
    const stillWaiting = waiting.filter((each) => each.version > version);
    if (stillWaiting.length === 0) pending.delete(index);
    else pending.set(index, stillWaiting);
  }

  #entryOf({ number, kind, at, by }: Mutation, { list, id, direct, before, after }: RecordChange): WritableLine {
    const { render } = this.#options;
    return {
      line: 'mutation',
      mutation: number,
      kind,
      list,
      id,
      at: isoTime(at),
      cause: direct ? 'direct' : 'follows',
      actor: direct ? by : SYSTEM,
      before: render(list, before),
      after: render(list, after),
      visibleAt: null,
    };
  }

  #add(line: JournalLine): void {
    this.#lines.push(line);
    // Many lines at once, so that dropping is cheap per line.
    if (this.#lines.length > this.#options.keep * 1.25) {
      const surplus = this.#lines.length - this.#options.keep;
      this.#lines = this.#lines.slice(surplus);
      this.#dropped += surplus;
    }
    this.#options.write(line);
  }
}

/** Follows clients by their cursors, to detect when one has read a whole list. */
class Walks {
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
    if (this.#startedAt.size > MOST_WALKS && oldest.done !== true) this.#startedAt.delete(oldest.value);
    return null;
  }
}
