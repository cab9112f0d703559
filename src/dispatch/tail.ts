/** The log for somebody who only looks: from a place, in order, to its end or as it grows. */
import type { LoggedEvent } from '../events/types.js';
import { compileSelection } from './match.js';
import type { LogReader } from './ports.js';

export interface TailOptions {
  /** A log id (exclusive), `'0'` for the beginning, `'now'` for what is yet to come. @defaultValue 'now' */
  from?: string;
  /** Event types, selected as by `on` of a subscription. @defaultValue all, events of lists and of the feed included */
  types?: readonly string[] | undefined;
  /** Only this workspace's log. @defaultValue all; each in its own order */
  workspace?: string | undefined;
  /** Goes on when the end is reached. @defaultValue true */
  follow?: boolean;
  /** Ends it, without an error. */
  signal?: AbortSignal | undefined;
}

export type TailedEvent = LoggedEvent & { workspace: string };

export interface TailDeps {
  log: LogReader;
  workspaces: readonly string[];
}

const BATCH = 200;
const LONGEST_WAIT_MS = 5_000;
const NEVER = new AbortController().signal;

export async function* followLog(
  { log, workspaces }: TailDeps,
  { from = 'now', types, workspace, follow = true, signal = NEVER }: TailOptions = {},
): AsyncGenerator<TailedEvent, void, undefined> {
  const wanted = types === undefined ? () => true : compileSelection({ on: types });
  const followed = workspaces.filter((name) => workspace === undefined || name === workspace);
  const places = new Map<string, string>();
  for (const name of followed) places.set(name, from === 'now' ? await log.tail(name) : from);

  while (!signal.aborted) {
    let found = false;
    for (const [name, place] of places) {
      const batch = await log.read(name, place, BATCH);
      for (const logged of batch) {
        if (wanted(logged.event)) yield { workspace: name, ...logged };
        places.set(name, logged.logId);
        found = true;
      }
    }
    if (!found && !follow) return;
    if (!found) await untilAnyGrows(log, places, signal);
  }
}

async function untilAnyGrows(log: LogReader, places: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void> {
  const enough = new AbortController();
  const either = AbortSignal.any([enough.signal, signal]);
  const waits = [...places].map(([name, place]) => log.waitForMore(name, place, LONGEST_WAIT_MS, either));
  try {
    await Promise.race(waits);
  } finally {
    enough.abort();
    await Promise.allSettled(waits);
  }
}
