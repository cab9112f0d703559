/**
 * The live end of the logs, read once per process however many readers follow it. A reader first gets what it has missed, from the log,
 * and then each event as it comes, in the order of each log and without a gap.
 */
import type { TailedEvent } from '../../dispatch/tail.js';
import { compareLogIds } from '../../events/log-id.js';
import { messageOf } from '../../errors.js';
import { isAborted } from '../../runtime/clock.js';
import type { Log } from '../../runtime/log.js';
import { onAbort } from '../../runtime/on-abort.js';
import { endsOf } from './events-before.js';
import type { Position } from './position.js';
import type { PageSource } from './source.js';

export interface FollowCall {
  workspaces: readonly string[];
  /** Where the reader was; a workspace that it does not name begins at the end of its log. */
  from: Position;
  signal: AbortSignal;
}

export interface LiveEvents {
  /** Events after a position, without end. @throws when the reader is too slow: it may begin again where it was */
  follow(call: FollowCall): AsyncGenerator<TailedEvent, void, undefined>;
  close(): Promise<void>;
}

/** Events that wait for a slow reader. */
const MOST_WAITING = 2_000;

export function createLiveEvents(source: PageSource, log: Log): LiveEvents {
  const stopping = new AbortController();
  const readers = new Set<Reader>();
  let reading: { begun: Promise<unknown>; ended: Promise<void> } | undefined;

  const begin = (): { begun: Promise<unknown>; ended: Promise<void> } => {
    const names = source.workspaces().map(({ name }) => name);
    const ends = endsOf(source, names);
    const read = async (): Promise<void> => {
      const failed = new AbortController();
      const signal = AbortSignal.any([stopping.signal, failed.signal]);
      try {
        await Promise.all(
          [...(await ends)].map(async ([workspace, from]) => {
            for await (const event of source.feed.tail({ workspace, from, signal })) {
              for (const reader of readers) reader.push(event);
            }
          }),
        );
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'the live events of the status page were interrupted');
      } finally {
        failed.abort();
        reading = undefined;
        for (const reader of readers) reader.end();
      }
    };
    return { begun: ends, ended: read() };
  };
  return {
    async *follow({ workspaces, from, signal }) {
      const reader = new Reader(AbortSignal.any([signal, stopping.signal]));
      readers.add(reader);
      try {
        reading ??= begin();
        // The log is read after the live events have begun, so that no event falls between the two.
        await reading.begun;
        const last = new Map<string, string>();
        for (const [workspace, offset] of from) {
          if (!workspaces.includes(workspace)) continue;
          last.set(workspace, offset);
          for await (const missed of source.feed.tail({ from: offset, workspace, follow: false, signal })) {
            last.set(workspace, missed.logId);
            yield missed;
          }
        }
        for await (const event of reader) {
          const { workspace, logId } = event;
          const before = last.get(workspace);
          if (!workspaces.includes(workspace) || (before !== undefined && compareLogIds(logId, before) <= 0)) continue;
          yield event;
        }
      } finally {
        readers.delete(reader);
      }
    },
    async close() {
      stopping.abort();
      await reading?.ended;
    },
  };
}

class Reader implements AsyncIterable<TailedEvent> {
  readonly #signal: AbortSignal;
  #waiting: TailedEvent[] = [];
  #wake: () => void = () => undefined;
  #ended = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  push(event: TailedEvent): void {
    this.#waiting.push(event);
    // It begins again where it was, from the log.
    if (this.#waiting.length > MOST_WAITING) this.#ended = true;
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TailedEvent, void, undefined> {
    const forget = onAbort(this.#signal, () => this.#wake());
    try {
      while (!isAborted(this.#signal) && !this.#ended) {
        const next = this.#waiting.shift();
        if (next === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
        else yield next;
      }
    } finally {
      forget();
    }
  }
}
