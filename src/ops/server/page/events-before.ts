/** Pages through the log from its newest event back: a page costs what it reads, not what the log holds. */
import type { ChangeEvent, LoggedEvent } from '../../../events/types.js';
import { timeOfLogId } from '../../../events/log-id.js';
import { END, formatPosition, type Position } from '../../../events/position.js';
import { isoTime } from '../../../kit/clock.js';
import { giveWay } from '../../../kit/give-way.js';
import { inUtf8, type LogEntry } from '../../../log/entry.js';
import type { EventLog } from '../../../log/event-log.js';

interface BeforeCall {
  workspaces: readonly string[];
  before: Position;
  limit: number;
  /** The first moment of the events, ms. @defaultValue the beginning of the log */
  sinceMs?: number | undefined;
  /** Only events of this record, of which the others need not be parsed. @defaultValue all */
  record?: string | undefined;
  wanted: (event: ChangeEvent) => boolean;
}

/** Events that one page looks at, when few of them are wanted. The answer then says how far it has looked. */
const MOST_SEARCHED = 4_000;

/** `next`: where the next page begins, null at the beginning of the log. `searched` counts what was not found too. */
export async function eventsBefore(log: EventLog, call: BeforeCall) {
  const { workspaces, before, limit, sinceMs, record, wanted } = call;
  const subject = record === undefined ? null : inUtf8(record);
  const events: LoggedEvent[] = [];
  const reached = new Map(workspaces.map((name) => [name, before.get(name) ?? END]));
  let searched = 0;
  let oldest: string | null = null;
  let next: string | null = null;
  for await (const entry of newestFirst(log, reached, sinceMs)) {
    if (searched === MOST_SEARCHED || events.length === limit) {
      next = formatPosition(reached);
      break;
    }
    searched += 1;
    oldest = entry.logId;
    reached.set(entry.workspace, oldest);
    if (subject !== null && entry.subject !== subject) continue;
    const logged = entry.logged();
    if (wanted(logged.event)) events.push(logged);
  }
  return { events, next, searched, searchedBackTo: oldest === null ? null : isoTime(timeOfLogId(oldest)) };
}

async function* newestFirst(log: EventLog, from: Position, sinceMs?: number): AsyncGenerator<LogEntry> {
  const range = { from, to: sinceMs === undefined ? undefined : `${sinceMs}-0`, limit: MOST_SEARCHED + 1 };
  for await (const entries of log.query({ workspaces: [...from.keys()], order: 'newest', ...range })) {
    await giveWay();
    yield* entries;
  }
}

export async function endsOf(log: EventLog, workspaces: readonly string[]): Promise<Position> {
  const ends = workspaces.map(async (name) => [name, await log.tail(name)] as const);
  return new Map(await Promise.all(ends));
}
