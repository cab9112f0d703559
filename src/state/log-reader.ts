/** Reads a workspace's log, a Redis stream whose entries have one field: the event's JSON. */
import type { Redis } from 'ioredis';
import { ChangefeedError } from '../errors.js';
import { BEFORE_ALL } from '../events/log-id.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import type { LogReader } from '../dispatch/ports.js';
import type { Keys } from './keys.js';

export interface LogReaderOptions {
  redis: Redis;
  keys: Keys;
  /** Opens a connection for a blocking read; with `maxRetriesPerRequest: null`. */
  connect: () => Redis;
}

type Entry = [id: string, fields: string[]];

export class RedisLogReader implements LogReader {
  readonly #redis: Redis;
  readonly #keys: Keys;
  readonly #connect: () => Redis;
  /** A blocked connection serves nobody else: each wait under way has its own, kept for the next. */
  readonly #idle: Redis[] = [];
  readonly #busy = new Set<Redis>();
  #closed = false;

  constructor({ redis, keys, connect }: LogReaderOptions) {
    this.#redis = redis;
    this.#keys = keys;
    this.#connect = connect;
  }

  async read(workspace: string, after: string, count: number): Promise<LoggedEvent[]> {
    const entries = await this.#redis.xrange(this.#keys.log(workspace), `(${after}`, '+', 'COUNT', count);
    return entries.map((entry) => parseEntry(workspace, entry));
  }

  async tail(workspace: string): Promise<string> {
    const [newest] = await this.#redis.xrevrange(this.#keys.log(workspace), '+', '-', 'COUNT', 1);
    return newest?.[0] ?? BEFORE_ALL;
  }

  async waitForMore(workspace: string, after: string, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted || this.#closed) return false;
    const connection = this.#idle.pop() ?? this.#connect();
    this.#busy.add(connection);
    // A blocked read cannot be called off, only its connection closed; one that is just reconnecting would not even fail.
    let hangUp = (): void => undefined;
    const hungUp = new Promise<null>((resolve) => {
      hangUp = () => {
        connection.disconnect();
        resolve(null);
      };
    });
    signal.addEventListener('abort', hangUp, { once: true });
    try {
      // BLOCK 0 would wait for ever.
      const blockMs = Math.max(1, Math.round(timeoutMs));
      const key = this.#keys.log(workspace);
      const read = connection.xread('COUNT', 1, 'BLOCK', blockMs, 'STREAMS', key, after);
      const answer = await Promise.race([read, hungUp]);
      if (isOver(signal)) return false;
      this.#idle.push(connection);
      return answer !== null;
    } catch (error) {
      connection.disconnect();
      if (isOver(signal) || this.#isClosed()) return false;
      throw error;
    } finally {
      this.#busy.delete(connection);
      signal.removeEventListener('abort', hangUp);
    }
  }

  #isClosed(): boolean {
    return this.#closed;
  }

  close(): Promise<void> {
    this.#closed = true;
    for (const connection of [...this.#idle, ...this.#busy]) connection.disconnect();
    this.#idle.length = 0;
    return Promise.resolve();
  }
}

/** Asked through a function: the compiler believes that a signal seen unaborted stays so. */
function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}

function parseEntry(workspace: string, [logId, fields]: Entry): LoggedEvent {
  const text = fields[fields.indexOf('event') + 1];
  try {
    return { logId, event: JSON.parse(text ?? '') as ChangeEvent };
  } catch {
    // Without the cause: the parser's message quotes what it could not read.
    throw new ChangefeedError('CF_STATE_UNREADABLE', {
      workspace,
      logId,
      message: `Entry ${logId} of the log of workspace "${workspace}" is not an event. Was the stream written by something else? Remove it with XDEL to go on.`,
    });
  }
}
