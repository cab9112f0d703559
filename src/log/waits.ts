/**
 * Waits for more events, of many logs by one connection: a blocked connection can do nothing else, and one for each of some hundred logs is dear. In
 * a Redis Cluster, one command reads the logs of one slot only, so each log has its own.
 */
import { compareLogIds } from '../events/log-id.js';
import { isAborted, onAbort, sleepUntilAborted, systemClock } from '../kit/clock.js';
import { Cluster, type Redis } from '../redis/client.js';
import type { Keys } from '../redis/keys.js';

/** A wait that begins while a read is blocked is in the next one. */
const LONGEST_READ_MS = 100;
/** Who was woken reads its log and waits again: the next read is not to be without them. */
const GATHER_MS = 5;

interface Wait {
  log: string;
  after: string;
  untilMs: number;
  resolve: (more: boolean) => void;
  reject: (error: unknown) => void;
}

export function createWaits(keys: Keys, connect: () => Redis) {
  const closing = new AbortController();
  const first = new Follower(connect, closing.signal);
  const ofLog = new Map<string, Follower>();
  const followerOf = (log: string): Follower => {
    if (!first.isOfCluster) return first;
    const own = ofLog.get(log) ?? new Follower(connect, closing.signal);
    ofLog.set(log, own);
    return own;
  };
  return {
    /** True as soon as there are events after `after`; false after `timeoutMs` or when aborted. */
    async waitForMore(workspace: string, after: string, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
      if (signal.aborted || closing.signal.aborted) return false;
      const log = keys.log(workspace);
      return await followerOf(log).wait({ log, after, untilMs: systemClock.monotonic() + timeoutMs }, signal);
    },
    close(): Promise<void> {
      closing.abort();
      return Promise.resolve();
    },
  };
}

class Follower {
  readonly #connect: () => Redis;
  readonly #closing: AbortSignal;
  readonly #waits = new Set<Wait>();
  #connection: Redis | undefined;
  #reading: Promise<void> | undefined;

  constructor(connect: () => Redis, closing: AbortSignal) {
    this.#connect = connect;
    this.#closing = closing;
    onAbort(closing, () => {
      // A blocked read cannot be cancelled; only its connection can be closed.
      this.#connection?.disconnect();
      this.#end(() => true, false);
    });
  }

  get isOfCluster(): boolean {
    return (this.#connection ??= this.#connect()) instanceof Cluster;
  }

  wait(about: Pick<Wait, 'log' | 'after' | 'untilMs'>, signal: AbortSignal): Promise<boolean> {
    let forget = (): void => undefined;
    const waiting = new Promise<boolean>((resolve, reject) => {
      const wait = { ...about, resolve, reject };
      this.#waits.add(wait);
      forget = onAbort(signal, () => this.#end((one) => one === wait, false));
    });
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return waiting.finally(forget);
  }

  async #read(): Promise<void> {
    while (this.#waits.size > 0 && !isAborted(this.#closing)) {
      const connection = (this.#connection ??= this.#connect());
      try {
        const grown = await readAny(connection, [...this.#waits]);
        this.#end(({ log, after }) => compareLogIds(grown.get(log) ?? '0-0', after) > 0, true);
      } catch (error) {
        connection.disconnect();
        this.#connection = undefined;
        for (const { reject } of this.#waits) reject(error);
        this.#waits.clear();
        return;
      }
      const nowMs = systemClock.monotonic();
      this.#end(({ untilMs }) => untilMs <= nowMs, false);
      await sleepUntilAborted(systemClock, GATHER_MS, this.#closing);
    }
  }

  #end(which: (wait: Wait) => boolean, more: boolean): void {
    for (const wait of [...this.#waits].filter(which)) {
      this.#waits.delete(wait);
      wait.resolve(more);
    }
  }
}

/** The first entry of each log behind the earliest place from which it is waited for. */
async function readAny(connection: Redis, waits: readonly Wait[]): Promise<Map<string, string>> {
  const from = new Map<string, string>();
  for (const { log, after } of waits) {
    const earlier = from.get(log);
    if (earlier === undefined || compareLogIds(after, earlier) < 0) from.set(log, after);
  }
  const nowMs = systemClock.monotonic();
  const blockMs = Math.min(LONGEST_READ_MS, ...waits.map(({ untilMs }) => untilMs - nowMs));
  const streams = [...from.keys(), ...from.values()];
  // BLOCK 0 would wait without end.
  const answer = await connection.xread('COUNT', 1, 'BLOCK', Math.max(1, Math.round(blockMs)), 'STREAMS', ...streams);
  return new Map(answer?.map(([log, entries]) => [log, entries[0]?.[0] ?? '0-0']));
}
