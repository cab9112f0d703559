/** Pages through the log from its newest event back: a page costs what it reads, not what the log holds. */
import type { ChangeEvent, LoggedEvent } from '../../../events/types.js';
import { BEFORE_ALL, timeOfLogId } from '../../../events/log-id.js';
import { isoTime } from '../../../kit/clock.js';
import type { EventLog } from '../../../log/event-log.js';

/** A position in the logs of all workspaces, as workspace → log id; `+` is the end of the log. */
export type Position = ReadonlyMap<string, string>;

const PART = /^([\w.-]{1,64})@(\d{1,15}-\d{1,19}|0|\+)$/;

/** `acme@1700-0,beta@1699-3`: id of server-sent events, and cursor of pages. */
export function formatPosition(position: Position): string {
  return [...position].map(([workspace, logId]) => `${workspace}@${logId}`).join(',');
}

export function parsePosition(text: string): Position | null {
  const parts = text.split(',').map((part) => PART.exec(part));
  if (parts.includes(null)) return null;
  return new Map(parts.map((part) => [part?.[1] ?? '', part?.[2] ?? '']));
}

interface BeforeCall {
  workspaces: readonly string[];
  before: Position;
  limit: number;
  wanted: (event: ChangeEvent) => boolean;
}

const CHUNK = 200;
/** Events that one page looks at, when few of them are wanted. The answer then says how far it has looked. */
const MOST_SEARCHED = 4_000;

/** `next`: where the next page begins, null at the beginning of the log. `searched` counts what was not found too. */
export async function eventsBefore(log: EventLog, { workspaces, before, limit, wanted }: BeforeCall) {
  const events: LoggedEvent[] = [];
  const offsets = new Map(workspaces.map((name) => [name, before.get(name) ?? '+']));
  const chunk = Math.min(CHUNK, Math.max(limit, 20));
  let searched = 0;
  let oldest: string | null = null;
  let ended = true;
  for await (const { workspace, ...logged } of newestFirst(log, offsets, chunk)) {
    if (searched === MOST_SEARCHED || events.length === limit) {
      ended = false;
      break;
    }
    searched += 1;
    oldest = logged.logId;
    offsets.set(workspace, oldest);
    if (wanted(logged.event)) events.push(logged);
  }
  const searchedBackTo = oldest === null ? null : isoTime(timeOfLogId(oldest));
  return { events, next: ended ? null : formatPosition(offsets), searched, searchedBackTo };
}

async function* newestFirst(log: EventLog, offsets: Position, chunk: number) {
  const read = async (workspace: string, before: string) => {
    const events = await log.readBefore(workspace, before, chunk);
    return { workspace, waiting: events.reverse() };
  };
  let logs = await Promise.all([...offsets].map(([workspace, before]) => read(workspace, before)));
  for (;;) {
    logs = logs.filter(({ waiting }) => waiting.length > 0);
    const [first, ...others] = logs;
    if (first === undefined) return;
    const timeOf = ({ waiting }: typeof first): number => timeOfLogId(waiting.at(-1)?.logId ?? BEFORE_ALL);
    const newest = others.reduce((best, one) => (timeOf(one) > timeOf(best) ? one : best), first);
    const { workspace, waiting } = newest;
    const logged = waiting.pop();
    if (logged === undefined) return;
    yield { workspace, ...logged };
    if (waiting.length === 0) newest.waiting = (await read(workspace, logged.logId)).waiting;
  }
}

export async function endsOf(log: EventLog, workspaces: readonly string[]): Promise<Position> {
  const ends = workspaces.map(async (name) => [name, await log.tail(name)] as const);
  return new Map(await Promise.all(ends));
}
