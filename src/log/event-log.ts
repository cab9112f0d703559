/** The event log: a Redis stream with the field `event`, JSON. Readers ignore other fields. */
import { z } from 'zod';
import { BEFORE_ALL, compareLogIds } from '../events/log-id.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import type { Redis } from '../redis/client.js';
import { isAborted, onAbort } from '../kit/clock.js';
import { gatherEach } from '../kit/gather.js';
import { textOf } from '../kit/utf8.js';
import type { Keys, WorkspaceRedis } from '../redis/keys.js';
import { eraseEntries } from './erase-entries.js';
import type { StateGuard, Steps } from './state-guard.js';
import { checked, parseJson, type StoredAt } from '../redis/stored.js';

const CHUNK = 500;
/** As many events as may be pending for one subscription, and the batches that are being read; usually some 20 MB. */
const MOST_KEPT = 6_000;
/** All events kept together have at most so many: a list may have memos of 1 MB. */
const MOST_KEPT_BYTES = 32_000_000;
/** Per command, and the bytes after which a read ends: large events must not fill the memory. */
const READ_AT_ONCE = 50;
const MOST_READ_BYTES = 8_000_000;
/** A scan asks for this many at once, where as many of the size of the last ones have no more bytes than this. */
const SCANNED_AT_ONCE = 2_000;
const SCANNED_BYTES = 4_000_000;

export interface LogReaderOptions {
  redis: Redis;
  keys: Keys;
  /** Opens a connection for a blocking read, with `maxRetriesPerRequest: null`. */
  connect: () => Redis;
  /** Begins epochs. @defaultValue none begins */
  guard?: StateGuard;
}

/** As Redis answers. */
type StreamEntry = [id: Buffer, fields: Buffer[]];

/** An event as it is stored. */
interface Entry {
  logId: string;
  bytes: Buffer;
}

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
    for (const logId of logIds) pipeline.xrangeBuffer(log, logId, logId);
    const answers = (await pipeline.exec()) ?? [];
    return answers.map(([error, found]) => {
      if (error) throw error;
      const [entry] = (found as StreamEntry[]).map(entryIn);
      return entry === undefined ? null : parseEntry(log, entry);
    });
  });
  return {
    /** After `after` (exclusive; '0': all), oldest first, at most `count`: fewer if large, none only at the end. */
    async read(workspace: string, after: string, count: number): Promise<LoggedEvent[]> {
      forgetEarlier(workspace);
      const log = keys.log(workspace);
      const entries: Entry[] = [];
      for (let size = 0; entries.length < count && size < MOST_READ_BYTES;) {
        const more = Math.min(READ_AT_ONCE, count - entries.length);
        const found = await redis.xrangeBuffer(log, `(${entries.at(-1)?.logId ?? after}`, '+', 'COUNT', more);
        entries.push(...found.map(entryIn));
        if (found.length < more) break;
        size = sizeOf(entries);
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
      const found = await redis.xrevrangeBuffer(log, end, '-', 'COUNT', Math.min(count, READ_AT_ONCE));
      return found.map((entry) => parseEntry(log, entryIn(entry)));
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
     * Everything after `after` up to `last`, the newest first, as it is stored: parsing a large log takes longer than reading it. `parse` reads one event.
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
        const entries = (await asked).map(entryIn);
        const oldest = entries.at(-1)?.logId;
        const isEnd = oldest === undefined || entries.length < count;
        count = Math.max(
          READ_AT_ONCE,
          Math.min(SCANNED_AT_ONCE, Math.floor((count * SCANNED_BYTES) / sizeOf(entries))),
        );
        // Redis reads the next ones while these are used.
        asked = isEnd ? null : ask(`(${oldest}`, count);
        yield entries.map((entry) => ({ ...entry, parse: () => parseEntry(log, entry).event }));
      }
    },
  };
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

/** As bytes, so each handler gets its own copy. Empty until the process asks for an event: it may handle none. */
function createEventCache() {
  const kept = new Map<string, Entry>();
  let size = 0;
  let isUsed = false;
  return {
    get(log: string, logId: string): Entry | undefined {
      isUsed = true;
      return kept.get(`${log} ${logId}`);
    },
    clear(): void {
      kept.clear();
      size = 0;
    },
    add(log: string, entries: readonly Entry[]): void {
      if (!isUsed) return;
      for (const entry of entries) {
        const name = `${log} ${entry.logId}`;
        if (!kept.has(name)) size += entry.bytes.length;
        kept.set(name, entry);
      }
      for (const [name, oldest] of kept) {
        if (kept.size <= MOST_KEPT && size <= MOST_KEPT_BYTES) break;
        kept.delete(name);
        size -= oldest.bytes.length;
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
    const entries = (await redis.xrevrangeBuffer(log, end, `${sinceMs}-0`, 'COUNT', count)).map(entryIn);
    for (const entry of entries) events.push(parseEntry(log, entry).event);
    const oldest = entries.at(-1)?.logId;
    if (oldest === undefined || entries.length < count) break;
    end = `(${oldest}`;
  }
  return events;
}

const EVENT = Buffer.from('event');
const NOTHING = Buffer.alloc(0);

/** Names alternate with values, and a value may be anything. */
function entryIn([id, fields]: StreamEntry): Entry {
  const at = fields.findIndex((name, index) => index % 2 === 0 && EVENT.equals(name));
  return { logId: id.toString(), bytes: (at < 0 ? undefined : fields[at + 1]) ?? NOTHING };
}

function sizeOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

function parseEntry(log: string, entry: Entry): LoggedEvent {
  return loggedFrom(entry, (json) => readEvent(json, { what: 'an event of the log', key: log, field: entry.logId }));
}

function loggedFrom({ logId, bytes }: Entry, read: (json: string) => unknown): LoggedEvent {
  return { logId, event: read(textOf(bytes)) as ChangeEvent };
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
