/** One question to the event log: a range of it, in either order, of one workspace or of several together. */
import { BEFORE_ALL, compareLogIds, timeOfLogId } from '../events/log-id.js';
import { compileTypes } from '../events/pattern.js';
import { END, type Position } from '../events/position.js';
import type { Redis } from '../redis/client.js';
import type { Keys } from '../redis/keys.js';
import { inUtf8, LogEntry, type StreamEntry } from './entry.js';

export interface LogQuery {
  /** Entries of several are in the order of their time, and those of one workspace in the order of its log. */
  workspaces: readonly string[];
  order: 'oldest' | 'newest';
  /** The point where reading goes on, exclusive: an offset, or one of each workspace. @defaultValue all, from where the order begins */
  from?: string | Position | undefined;
  /** The last entry that is read, a log id. @defaultValue all, to where the order ends */
  to?: string | undefined;
  /** Only events of these types, as `on` of a subscription selects them. @defaultValue all */
  types?: readonly string[] | undefined;
  /** Only events with this subject. @defaultValue all */
  record?: string | undefined;
  /** At most so many entries. @defaultValue all */
  limit?: number;
  /** Ends the reading without an error; what was read and not given yet is left out. */
  signal?: AbortSignal | undefined;
}

/**
 * Entries in Redis have no size that can be asked for: a read asks for as many as would have so many bytes if they were as large as those before,
 * and at most for twice as many as the one before. A batch is also what the process handles before it does anything else.
 */
const FIRST = 50;
const MOST_AT_ONCE = 250;
const MOST_BYTES = 1_000_000;

/** In batches: a step of the generator for each entry would take longer than reading it. None is empty. */
export async function* queryLog(
  scope: { redis: Redis; keys: Keys },
  { workspaces, order, from, to, types, record, limit = Infinity, signal }: LogQuery,
): AsyncGenerator<LogEntry[], void, undefined> {
  const isType = types === undefined ? null : compileTypes({ on: types });
  const subject = record === undefined ? null : inUtf8(record);
  const isWanted = (entry: LogEntry): boolean =>
    (subject === null || subject === entry.subject) && (isType === null || isType(entry.type));
  const isAll = isType === null && record === undefined;
  const logs = workspaces.map((workspace) => {
    const own = typeof from === 'string' ? from : from?.get(workspace);
    const start = own ?? (order === 'oldest' ? BEFORE_ALL : END);
    const most = { most: isAll ? limit : Infinity, mostBytes: MOST_BYTES / workspaces.length };
    return readLog(scope, { workspace, order, from: start, to, ...most });
  });
  const [only] = logs;
  let remaining = limit;
  for await (const batch of logs.length === 1 && only !== undefined ? only : together(logs, order)) {
    if (signal?.aborted === true) return;
    const wanted = isAll && batch.length <= remaining ? batch : batch.filter(isWanted).slice(0, remaining);
    if (wanted.length > 0) yield wanted;
    remaining -= wanted.length;
    if (remaining <= 0) return;
  }
}

interface LogRange {
  workspace: string;
  order: LogQuery['order'];
  from: string;
  to: string | undefined;
  most: number;
  mostBytes: number;
}

async function* readLog(
  { redis, keys }: { redis: Redis; keys: Keys },
  { workspace, order, from, to, most, mostBytes }: LogRange,
): AsyncGenerator<LogEntry[], void, undefined> {
  // Redis refuses to look beyond the first and the last possible id.
  if (order === 'oldest' ? from === END : compareLogIds(from, BEFORE_ALL) <= 0) return;
  const log = keys.log(workspace);
  const ask = (after: string, count: number) => {
    const start = after === END ? END : `(${after}`;
    const answer =
      order === 'oldest'
        ? redis.xrangeBuffer(log, start, to ?? '+', 'COUNT', count)
        : redis.xrevrangeBuffer(log, start, to ?? '-', 'COUNT', count);
    // Who needs no more does not wait for it.
    answer.catch(() => undefined);
    return answer;
  };
  let [count, remaining] = [Math.min(FIRST, most), most];
  let asked: ReturnType<typeof ask> | null = null;
  for (let [after, isFirst] = [from, true]; ; isFirst = false) {
    const entries: StreamEntry[] = await (asked ?? ask(after, count));
    const batch = entries.map((entry) => new LogEntry(workspace, log, entry));
    remaining -= batch.length;
    after = batch.at(-1)?.logId ?? after;
    const isEnd = batch.length < count || remaining <= 0;
    const size = batch.reduce((sum, { bytes }) => sum + bytes.length, 0);
    count = Math.min(remaining, MOST_AT_ONCE, 2 * count, Math.ceil((count * mostBytes) / size));
    // Redis reads the next ones while these are used. Often the first are enough.
    asked = isEnd || isFirst ? null : ask(after, count);
    if (batch.length > 0) yield batch;
    if (isEnd) return;
  }
}

interface WaitingLog {
  log: AsyncGenerator<LogEntry[], void, undefined>;
  entries: LogEntry[];
}

/** Each time as far as all logs are known. */
async function* together(
  logs: readonly WaitingLog['log'][],
  order: LogQuery['order'],
): AsyncGenerator<LogEntry[], void, undefined> {
  const sign = order === 'oldest' ? 1 : -1;
  const timeOf = ({ logId }: LogEntry): number => sign * timeOfLogId(logId);
  let waiting = logs.map((log): WaitingLog => ({ log, entries: [] }));
  for (;;) {
    const read = waiting.map(async ({ log, entries }): Promise<WaitingLog> => {
      if (entries.length > 0) return { log, entries };
      const { value } = await log.next();
      return { log, entries: value ?? [] };
    });
    waiting = (await Promise.all(read)).filter(({ entries }) => entries.length > 0);
    if (waiting.length === 0) return;
    const knownTo = Math.min(...waiting.map(({ entries }) => Math.max(...entries.slice(-1).map(timeOf))));
    const ready = waiting.flatMap(({ entries }) => {
      const end = entries.findIndex((entry) => timeOf(entry) > knownTo);
      return entries.splice(0, end < 0 ? entries.length : end);
    });
    yield ready.sort((one, other) => timeOf(one) - timeOf(other));
  }
}
