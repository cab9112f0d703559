/** The event log: a Redis stream with the field `event`, JSON. Readers ignore other fields. */
import { z } from 'zod';
import { BEFORE_ALL, compareLogIds } from '../events/log-id.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import type { Redis } from '../redis/client.js';
import { isAborted, onAbort } from '../kit/clock.js';
import { gatherEach } from '../kit/gather.js';
import type { Keys, WorkspaceRedis } from '../redis/keys.js';
import { eraseEntries } from './erase-entries.js';
import type { StateGuard, Steps } from './state-guard.js';
import { checked, parseJson, type StoredAt } from '../redis/stored.js';

const CHUNK = 500;
/** As many events as may be pending for one subscription, and the batches that are being read; usually some 20 MB. */
const MOST_KEPT = 6_000;
/** Characters of all events kept: a list may have memos of 1 MB. */
const MOST_KEPT_LENGTH = 32_000_000;
/** Per command, and the characters after which a read ends: large events must not fill the memory. */
const READ_AT_ONCE = 50;
const MOST_READ_LENGTH = 8_000_000;
/** A scan asks for this many at once, where as many of the size of the last ones have no more characters than this. */
const SCANNED_AT_ONCE = 2_000;
const SCANNED_LENGTH = 4_000_000;

export interface LogReaderOptions {
  redis: Redis;
  keys: Keys;
  /** Opens a connection for a blocking read, with `maxRetriesPerRequest: null`. */
  connect: () => Redis;
  /** Begins epochs. @defaultValue none begins */
  guard?: StateGuard;
}

type StreamEntry = [id: string, fields: string[]];

export type EventLog = ReturnType<typeof createLogReader>;

export function createLogReader({ redis, keys, connect, guard }: LogReaderOptions) {
  const kept = createEventCache();
  const epochs = new Map<string, Steps>();
  /** In another epoch, the id of an entry may be that of one that is gone. */
  const forgetEarlier = (workspace: string): void => {
    const epoch = guard?.steps(workspace);
    if (epoch === undefined || epochs.get(workspace) === epoch) return;
    epochs.set(workspace, epoch);
    kept.clear();
  };
  const readEach = gatherEach(async (workspace, logIds: readonly string[]) => {
    const log = keys.log(workspace);
    const pipeline = redis.pipeline();
    for (const logId of logIds) pipeline.xrange(log, logId, logId);
    const answers = (await pipeline.exec()) ?? [];
    return answers.map(([error, entries]) => {
      if (error) throw error;
      const [entry] = entries as StreamEntry[];
      return entry === undefined ? null : parseEntry(log, entry);
    });
  });
  return {
    /** After `after` (exclusive; '0': all), oldest first, at most `count`: fewer if large, none only at the end. */
    async read(workspace: string, after: string, count: number): Promise<LoggedEvent[]> {
      forgetEarlier(workspace);
      const log = keys.log(workspace);
      const entries: StreamEntry[] = [];
      for (let length = 0; entries.length < count && length < MOST_READ_LENGTH;) {
        const more = Math.min(READ_AT_ONCE, count - entries.length);
        const found = await redis.xrange(log, `(${entries.at(-1)?.[0] ?? after}`, '+', 'COUNT', more);
        entries.push(...found);
        if (found.length < more) break;
        length = entries.reduce((sum, entry) => sum + lengthOf(entry), 0);
      }
      kept.add(log, entries);
      return entries.map((entry) => parseEntry(log, entry));
    },
    /** Events before `before` (exclusive; '+' is the end), newest first, at most `count`. */
    async readBefore(workspace: string, before: string, count: number): Promise<LoggedEvent[]> {
      // Redis refuses to look before the first possible id.
      if (before !== '+' && compareLogIds(before, BEFORE_ALL) <= 0) return [];
      const log = keys.log(workspace);
      const end = before === '+' ? '+' : `(${before}`;
      const entries = await redis.xrevrange(log, end, '-', 'COUNT', Math.min(count, READ_AT_ONCE));
      return entries.map((entry) => parseEntry(log, entry));
    },
    async tail(workspace: string): Promise<string> {
      const [newest] = await redis.xrevrange(keys.log(workspace), '+', '-', 'COUNT', 1);
      return newest?.[0] ?? BEFORE_ALL;
    },
    /** A stored offset above the end of the log begins an epoch: the log has lost its end. */
    checkOffset: async (workspace: string, offset: string) => await guard?.checkOffset(workspace, offset),
    /** The time of the server, which gives the entries of the log their ids; ms. */
    async serverMs(): Promise<number> {
      const [seconds = 0, micros = 0] = (await redis.time()).map(Number);
      return seconds * 1_000 + Math.floor(micros / 1_000);
    },
    /** From the memory of the process, which may still have one that was erased; `stored` reads the log. */
    event(workspace: string, logId: string): Promise<LoggedEvent | null> {
      forgetEarlier(workspace);
      const entry = kept.get(keys.log(workspace), logId);
      // It was checked when it was read.
      return entry === undefined ? readEach(workspace, logId) : Promise.resolve(loggedFrom(entry, JSON.parse));
    },
    ...{ stored: readEach, ...erasing({ redis, keys }, kept), ...createScan(redis, keys) },
    ...createWaits(keys, connect),
  };
}

function erasing(scope: { redis: Redis; keys: Keys }, kept: { clear(): void }) {
  return {
    /** @returns how many there were */
    async erase(workspace: string, logIds: readonly string[]): Promise<number> {
      const erased = await eraseEntries(scope, workspace, logIds);
      if (erased > 0) kept.clear();
      return erased;
    },
  };
}

function createScan(redis: Redis, keys: Keys) {
  return {
    /**
     * Everything after `after` up to `last`, the newest first, as it is stored: making texts of a large log takes longer than reading it, and parsing
     * it longer still. `parse` reads one event.
     */
    async *scan(workspace: string, { after, last }: { after: string; last: string }) {
      const log = keys.log(workspace);
      const ask = (end: string, most: number) => {
        const answer = redis.xrevrangeBuffer(log, end, `(${after}`, 'COUNT', most);
        // Who needs no more does not wait for it.
        answer.catch(() => undefined);
        return answer;
      };
      let count = READ_AT_ONCE;
      let asked = compareLogIds(after, last) < 0 ? ask(last, count) : null;
      while (asked !== null) {
        const entries = await asked;
        const length = entries.reduce((sum, [, fields]) => sum + fields.reduce((all, one) => all + one.length, 0), 0);
        const oldest = entries.at(-1)?.[0];
        const isEnd = oldest === undefined || entries.length < count;
        count = Math.max(READ_AT_ONCE, Math.min(SCANNED_AT_ONCE, Math.floor((count * SCANNED_LENGTH) / length)));
        // Redis reads the next ones while these are used.
        asked = isEnd ? null : ask(`(${oldest.toString()}`, count);
        yield entries.map(([id, fields]) => scannedFrom(log, id.toString(), fields));
      }
    },
  };
}

const EVENT = Buffer.from('event');
const NOTHING = Buffer.alloc(0);

function scannedFrom(log: string, logId: string, fields: readonly Buffer[]) {
  const bytes = fields.find((_, at) => at % 2 === 1 && EVENT.equals(fields[at - 1] ?? NOTHING)) ?? NOTHING;
  return { logId, bytes, parse: () => parseEntry(log, [logId, ['event', bytes.toString()]]).event };
}

function createWaits(keys: Keys, connect: () => Redis) {
  /** A blocked connection can do nothing else: each wait has its own, which is kept for the next wait. */
  const idle: Redis[] = [];
  const busy = new Set<Redis>();
  const closing = new AbortController();
  return {
    /** True as soon as there are events after `after`; false after `timeoutMs` or when aborted. */
    async waitForMore(workspace: string, after: string, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
      if (signal.aborted || closing.signal.aborted) return false;
      const connection = idle.pop() ?? connect();
      busy.add(connection);
      // A blocked read cannot be cancelled; only its connection can be closed.
      const forget = onAbort(signal, () => connection.disconnect());
      try {
        // BLOCK 0 would wait without end.
        const blockMs = Math.max(1, Math.round(timeoutMs));
        const answer = await connection.xread('COUNT', 1, 'BLOCK', blockMs, 'STREAMS', keys.log(workspace), after);
        if (isAborted(signal)) return false;
        idle.push(connection);
        return answer !== null;
      } catch (error) {
        connection.disconnect();
        if (isAborted(signal) || isAborted(closing.signal)) return false;
        throw error;
      } finally {
        busy.delete(connection);
        forget();
      }
    },
    close(): Promise<void> {
      closing.abort();
      for (const connection of [...idle, ...busy]) connection.disconnect();
      idle.length = 0;
      return Promise.resolve();
    },
  };
}

/** As text, so each handler gets its own copy. Empty until the process asks for an event: it may handle none. */
function createEventCache() {
  const kept = new Map<string, StreamEntry>();
  let length = 0;
  let isUsed = false;
  return {
    get(log: string, logId: string): StreamEntry | undefined {
      isUsed = true;
      return kept.get(`${log} ${logId}`);
    },
    clear(): void {
      kept.clear();
      length = 0;
    },
    add(log: string, entries: readonly StreamEntry[]): void {
      if (!isUsed) return;
      for (const entry of entries) {
        const name = `${log} ${entry[0]}`;
        if (!kept.has(name)) length += lengthOf(entry);
        kept.set(name, entry);
      }
      for (const [name, oldest] of kept) {
        if (kept.size <= MOST_KEPT && length <= MOST_KEPT_LENGTH) break;
        kept.delete(name);
        length -= lengthOf(oldest);
      }
    },
  };
}

/** The newest events of a workspace's log that are not older than `sinceMs`, newest first, at most `limit`. */
export async function readRecentEvents(
  { redis, keys, workspace }: WorkspaceRedis,
  sinceMs: number,
  limit: number,
): Promise<ChangeEvent[]> {
  const log = keys.log(workspace);
  const events: ChangeEvent[] = [];
  for (let end = '+'; events.length < limit;) {
    const count = Math.min(CHUNK, limit - events.length);
    const entries = await redis.xrevrange(log, end, `${sinceMs}-0`, 'COUNT', count);
    for (const entry of entries) events.push(parseEntry(log, entry).event);
    const oldest = entries.at(-1)?.[0];
    if (oldest === undefined || entries.length < count) break;
    end = `(${oldest}`;
  }
  return events;
}

function lengthOf([, fields]: StreamEntry): number {
  return fields.reduce((sum, { length }) => sum + length, 0);
}

function parseEntry(log: string, entry: StreamEntry): LoggedEvent {
  const [logId] = entry;
  return loggedFrom(entry, (json) => readEvent(json, { what: 'an event of the log', key: log, field: logId }));
}

function loggedFrom(entry: StreamEntry, read: (json: string) => unknown): LoggedEvent {
  return { logId: entry[0], event: read(jsonOf(entry)) as ChangeEvent };
}

/** Names alternate with values, and a value may be anything. */
function jsonOf([, fields]: StreamEntry): string {
  return fields.find((_, at) => at % 2 === 1 && fields[at - 1] === 'event') ?? '';
}

/** Only what every reader relies on: checking a full schema would take longer than parsing the events. */
export const eventSchema = z.object({
  id: z.string(),
  source: z.string(),
  type: z.string(),
  subject: z.string(),
  time: z.string(),
  data: z.object({ sequence: z.number(), observedAt: z.string(), changes: z.array(z.unknown()) }),
});

export function readEvent(json: string, at: StoredAt): ChangeEvent {
  const event = parseJson(json, at);
  checked(eventSchema, event, at);
  return event as ChangeEvent;
}
