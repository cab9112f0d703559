/** Reads the log without a subscription: from an offset, in order, to its end or as it grows. */
import { parseBeginning } from '../../events/log-id.js';
import type { Position } from '../../events/position.js';
import { usage } from '../../kit/errors.js';
import type { LoggedEvent } from '../../events/types.js';
import { compileTypes } from '../../events/pattern.js';
import type { EventLog } from '../../log/event-log.js';

/** Where the log is read from, and what of it. */
export interface TailOptions {
  /**
   * A log id (exclusive), `'0'` for the beginning, a date or time (without a zone, of each workspace's `timeZone`), `'now'` for new
   * events only. @defaultValue 'now'
   */
  from?: string;
  /** Event types, selected as by `on` of a subscription. @defaultValue all, including events of lists and of the feed */
  types?: readonly string[] | undefined;
  /** Only this workspace's log. @defaultValue all; each in its own order */
  workspace?: string | undefined;
  /** Waits for more events at the end of the log. @defaultValue true */
  follow?: boolean;
  /** Ends the reading without an error. */
  signal?: AbortSignal | undefined;
}

/** An event with its position in the log of its workspace. */
export type TailedEvent = LoggedEvent & { workspace: string };

export interface TailDeps {
  log: EventLog;
  workspaces: readonly string[];
  timeZoneOf: (workspace: string) => string;
}

const LOG_ID = /^\d+(-\d+)?$/;
/** Then the logs that ended meanwhile are asked again. */
const AT_ONCE = 1_000;
const LONGEST_WAIT_MS = 5_000;
const NEVER = new AbortController().signal;

export async function* followLog(
  { log, workspaces, timeZoneOf }: TailDeps,
  { from = 'now', types, workspace, follow = true, signal = NEVER }: TailOptions = {},
): AsyncGenerator<TailedEvent, void, undefined> {
  const offsets = new Map<string, string>();
  for (const name of workspaces.filter((one) => workspace === undefined || one === workspace)) {
    const start = LOG_ID.test(from) ? from : parseBeginning(from, timeZoneOf(name));
    if (start === undefined && from !== 'now')
      throw usage(
        `tail, from: found "${from}"; allowed: a log id, "beginning", "now" or a time (2026-03-01T09:00:00Z).`,
      );
    offsets.set(name, start ?? (await log.tail(name)));
  }
  while (!signal.aborted) {
    yield* storedEvents(log, offsets, { types, signal });
    if (!follow) return;
    await untilAnyGrows(log, offsets, signal);
  }
}

/** What is logged after the offsets, which it moves on, to the end of the logs. */
export async function* storedEvents(
  log: EventLog,
  offsets: Map<string, string>,
  { types, signal }: { types?: readonly string[] | undefined; signal: AbortSignal },
): AsyncGenerator<TailedEvent, void, undefined> {
  const isType = types === undefined ? () => true : compileTypes({ on: types });
  const workspaces = [...offsets.keys()];
  for (let read = AT_ONCE; read === AT_ONCE && !signal.aborted;) {
    read = 0;
    for await (const entries of log.query({ workspaces, order: 'oldest', from: offsets, limit: AT_ONCE, signal })) {
      read += entries.length;
      for (const entry of entries) {
        const { workspace, logId } = entry;
        offsets.set(workspace, logId);
        if (isType(entry.type)) yield { workspace, logId, event: entry.parse() };
      }
    }
  }
}

async function untilAnyGrows(log: EventLog, offsets: Position, signal: AbortSignal): Promise<void> {
  const grown = new AbortController();
  const either = AbortSignal.any([grown.signal, signal]);
  const waits = [...offsets].map(([name, offset]) => log.waitForMore(name, offset, LONGEST_WAIT_MS, either));
  try {
    await Promise.race(waits);
  } finally {
    grown.abort();
    await Promise.allSettled(waits);
  }
}
