/** The event log of each workspace, a Redis stream; and the memory of a process, from which its handlers get what its readers have read. */
import { BEFORE_ALL } from '../events/log-id.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import type { Redis } from '../redis/client.js';
import { gatherEach } from '../kit/gather.js';
import { textOf } from '../kit/utf8.js';
import type { Keys } from '../redis/keys.js';
import { LogEntry, type StreamEntry } from './entry.js';
import { eraseEntries } from './erase-entries.js';
import { queryLog, type LogQuery } from './query.js';
import type { StateGuard, Steps } from './state-guard.js';
import { createWaits } from './waits.js';

/** Enough for the events that may be pending for one subscription, and the batches that are being read; usually some 20 MB. */
const MOST_KEPT = 6_000;
/** All events kept together have at most so many: a list may have memos of 1 MB. */
const MOST_KEPT_BYTES = 32_000_000;
/** A read ends after so many bytes: large events must not fill the memory. */
const MOST_READ_BYTES = 8_000_000;

export interface LogReaderOptions {
  redis: Redis;
  keys: Keys;
  /** Opens a connection for blocking reads, with `maxRetriesPerRequest: null`. */
  connect: () => Redis;
  /** Begins epochs. @defaultValue none begins */
  guard?: StateGuard;
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
      const [entry] = found as StreamEntry[];
      return entry === undefined ? null : new LogEntry(workspace, log, entry).logged();
    });
  });
  const query = (asked: LogQuery) => queryLog({ redis, keys }, asked);
  return {
    query,
    /** The oldest first, for those who may ask `event` for them next. Fewer than the limit if they are large, none only at the end. */
    async read(workspace: string, range: Pick<LogQuery, 'from' | 'to' | 'limit'>): Promise<LoggedEvent[]> {
      forgetEarlier(workspace);
      const entries: LogEntry[] = [];
      for await (const batch of query({ workspaces: [workspace], order: 'oldest', ...range })) {
        entries.push(...batch);
        if (sizeOf(entries) >= MOST_READ_BYTES) break;
      }
      kept.add(keys.log(workspace), entries);
      return entries.map((entry) => entry.logged());
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
    /** Reads an event from the memory of the process, which may still have one that was erased; `stored` reads the log. */
    event(workspace: string, logId: string): Promise<LoggedEvent | null> {
      forgetEarlier(workspace);
      const entry = kept.get(keys.log(workspace), logId);
      // It was checked when it was read.
      if (entry === undefined) return readEach(workspace, logId);
      return Promise.resolve({ logId, event: JSON.parse(textOf(entry.bytes)) as ChangeEvent });
    },
    ...{ stored: readEach, ...erasing({ redis, keys }, kept) },
    ...createWaits(keys, connect),
  };
}

function erasing(scope: { redis: Redis; keys: Keys }, kept: { clear(): void }) {
  return {
    /** @returns how many there were */
    async erase(workspace: string, logIds: readonly string[]): Promise<number> {
      const erased = await eraseEntries({ ...scope, workspace }, scope.keys.log(workspace), logIds);
      if (erased > 0) kept.clear();
      return erased;
    },
  };
}

/** Keeps entries as bytes, so each handler gets its own copy. Empty until the process asks for an event: it may handle none. */
function createEventCache() {
  const kept = new Map<string, LogEntry>();
  let size = 0;
  let isUsed = false;
  return {
    get(log: string, logId: string): LogEntry | undefined {
      isUsed = true;
      return kept.get(`${log} ${logId}`);
    },
    clear(): void {
      kept.clear();
      size = 0;
    },
    add(log: string, entries: readonly LogEntry[]): void {
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

function sizeOf(entries: readonly LogEntry[]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
