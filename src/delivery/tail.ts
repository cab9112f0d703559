/** Reads the log without a subscription: from an offset, in order, to its end or as it grows. */
import { parseBeginning } from '../events/log-id.js';
import { usage } from '../kit/errors.js';
import type { LoggedEvent } from '../events/types.js';
import { compileSelection } from '../events/pattern.js';
import type { EventLog } from '../log/event-log.js';

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
const BATCH = 200;
const LONGEST_WAIT_MS = 5_000;
const NEVER = new AbortController().signal;

export async function* followLog(
  { log, workspaces, timeZoneOf }: TailDeps,
  { from = 'now', types, workspace, follow = true, signal = NEVER }: TailOptions = {},
): AsyncGenerator<TailedEvent, void, undefined> {
  const wanted = types === undefined ? () => true : compileSelection({ on: types });
  const followed = workspaces.filter((name) => workspace === undefined || name === workspace);
  const offsets = new Map<string, string>();
  for (const name of followed) {
    const start = LOG_ID.test(from) ? from : parseBeginning(from, timeZoneOf(name));
    if (start === undefined && from !== 'now')
      throw usage(
        `tail, from: found "${from}"; allowed: a log id, "beginning", "now" or a time (2026-03-01T09:00:00Z).`,
      );
    offsets.set(name, start ?? (await log.tail(name)));
  }

  while (!signal.aborted) {
    let found = false;
    for (const [name, offset] of offsets) {
      const batch = await log.read(name, offset, BATCH);
      for (const logged of batch) {
        if (wanted(logged.event)) yield { workspace: name, ...logged };
        offsets.set(name, logged.logId);
        found = true;
      }
    }
    if (!found && !follow) return;
    if (!found) await untilAnyGrows(log, offsets, signal);
  }
}

async function untilAnyGrows(log: EventLog, offsets: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void> {
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
