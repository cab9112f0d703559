/** Pages through the log from its newest event back, a part at a time: a page costs what it reads, not what the log holds. */
import type { ChangeEvent } from '../../events/types.js';
import { BEFORE_ALL, timeOfLogId } from '../../events/log-id.js';
import { formatPosition, type Position } from './position.js';
import type { LogHistory } from './source.js';

export interface EventsBefore {
  /** Newest first. */
  events: { logId: string; event: ChangeEvent }[];
  /** Where the next page begins; null at the beginning of the log. */
  next: string | null;
  /** ISO time of the oldest event that was looked at, found or not; null when there was none. */
  searchedBackTo: string | null;
  /** Events that were looked at. */
  searched: number;
}

export interface BeforeCall {
  workspaces: readonly string[];
  before: Position;
  limit: number;
  wanted: (event: ChangeEvent) => boolean;
}

const CHUNK = 200;
/** Events that one page looks at, when few of them are wanted. The answer then says how far it has looked. */
export const MOST_SEARCHED = 4_000;

export async function eventsBefore(
  log: LogHistory,
  { workspaces, before, limit, wanted }: BeforeCall,
): Promise<EventsBefore> {
  const readers = workspaces.map((name) =>
    readerOf(log, name, before.get(name) ?? '+', Math.min(CHUNK, Math.max(limit, 20))),
  );
  const events: EventsBefore['events'] = [];
  let oldest: string | null = null;
  let ended = false;
  let searched = 0;
  for (; searched < MOST_SEARCHED && events.length < limit; searched += 1) {
    const heads = await Promise.all(readers.map(async (reader) => ({ reader, head: await reader.peek() })));
    const newest = heads.reduce<(typeof heads)[number] | null>((best, one) => {
      if (one.head === null) return best;
      return best?.head == null || timeOfLogId(one.head.logId) > timeOfLogId(best.head.logId) ? one : best;
    }, null);
    if (newest?.head == null) {
      ended = true;
      break;
    }
    newest.reader.take();
    oldest = newest.head.logId;
    if (wanted(newest.head.event)) events.push(newest.head);
  }
  const next = ended ? null : formatPosition(new Map(readers.map((reader) => [reader.workspace, reader.offset()])));
  return {
    events,
    next,
    searched,
    searchedBackTo: oldest === null ? null : new Date(timeOfLogId(oldest)).toISOString(),
  };
}

/** Of each workspace, where its log ends. */
export async function endsOf(
  { log }: { log: Pick<LogHistory, 'readBefore'> },
  workspaces: readonly string[],
): Promise<Position> {
  const ends = workspaces.map(async (name): Promise<[string, string]> => {
    const [newest] = await log.readBefore(name, '+', 1);
    return [name, newest?.logId ?? BEFORE_ALL];
  });
  return new Map(await Promise.all(ends));
}

interface Reader {
  workspace: string;
  /** The log id of the last event taken. */
  offset(): string;
  peek(): Promise<{ logId: string; event: ChangeEvent } | null>;
  take(): void;
}

function readerOf(log: LogHistory, workspace: string, from: string, chunk: number): Reader {
  let buffer: { logId: string; event: ChangeEvent }[] = [];
  let at = 0;
  let offset = from;
  let ended = false;
  return {
    workspace,
    offset: () => offset,
    async peek() {
      if (at >= buffer.length && !ended) {
        buffer = await log.readBefore(workspace, offset, chunk);
        at = 0;
        ended = buffer.length === 0;
      }
      return buffer[at] ?? null;
    },
    take() {
      offset = buffer[at]?.logId ?? offset;
      at += 1;
    },
  };
}
