/**
 * Keeps a running service up with its configuration. Files are looked at once a second and taken when they have stayed the
 * same for two looks: however an editor writes them (in place, beside and renamed, in two steps), and wherever they lie (a
 * mounted folder tells nobody that something changed there). What is not valid is told once and changes nothing.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Changefeed, Reloaded } from './changefeed.js';
import type { LoadedConfig } from '../config/load.js';
import { ChangefeedError, messageOf } from '../errors.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { runLoop } from '../runtime/loop.js';

export interface ConfigWatchOptions {
  feed: Pick<Changefeed, 'reload'>;
  log: Log;
  /** The files the configuration was read from, and what was in them. */
  files: FileDigests;
  reread: () => Promise<LoadedConfig>;
  clock?: Clock;
}

export interface ConfigWatch {
  /** Reads the configuration again at once, whether its files have changed or not. */
  reload: () => void;
  /** Looks at the files until the signal aborts. */
  run(): Promise<void>;
}

const LOOK_MS = 1_000;
/** A reload waits for the handlers of subscriptions that go. */
const STALL_MS = 600_000;

/** File → digest of what is in it. */
export type FileDigests = ReadonlyMap<string, string>;

export function keepUpWithConfig(options: ConfigWatchOptions, signal: AbortSignal): ConfigWatch {
  const { reread, feed, log, clock = systemClock } = options;
  let files = [...options.files.keys()];
  let taken = options.files;
  let last: FileDigests | undefined;
  let asked = false;
  let wake = new AbortController();

  const take = async (look: FileDigests): Promise<void> => {
    taken = look;
    try {
      const loaded = await reread();
      files = [...loaded.files];
      // What was changed while it was read is told by the next look; what is new among the files is as it was read.
      taken = new Map([...(await digestFiles(files)), ...look]);
      tell(await feed.reload(loaded.config), log);
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof ChangefeedError ? error.code : undefined;
      log.error({ error: messageOf(error), code }, 'the configuration was not taken over; the old one goes on');
    }
  };
  const turn = async (): Promise<number> => {
    const either = AbortSignal.any([signal, wake.signal]);
    if (!asked) await clock.sleep(LOOK_MS, either).catch(() => undefined);
    if (signal.aborted) return 0;
    const look = await digestFiles(files);
    const settled = last !== undefined && isSame(files, look, last);
    last = look;
    if (!asked && (!settled || isSame(files, look, taken))) return 0;
    asked = false;
    await take(look);
    return 0;
  };
  return {
    reload() {
      asked = true;
      wake.abort();
      wake = new AbortController();
    },
    run: () => runLoop({ name: 'configuration', run: turn, signal, stallMs: STALL_MS, log, clock }),
  };
}

export async function digestFiles(files: readonly string[]): Promise<FileDigests> {
  return new Map(await Promise.all(files.map(async (file) => [file, await digestOf(file)] as const)));
}

async function digestOf(file: string): Promise<string> {
  try {
    return createHash('sha256')
      .update(await readFile(file))
      .digest('base64');
  } catch (error) {
    // Between two steps of an editor there may be no such file.
    return String((error as NodeJS.ErrnoException).code);
  }
}

function isSame(files: readonly string[], a: FileDigests, b: FileDigests): boolean {
  return files.every((file) => a.get(file) === b.get(file));
}

function tell({ needsRestart, ...names }: Reloaded, log: Log): void {
  const changes = Object.values(names).some((some) => some.length > 0);
  log.info(names, changes ? 'the configuration was reloaded' : 'the configuration was read again: nothing differs');
  if (needsRestart.length === 0) return;
  log.warn({ sections: needsRestart }, 'these differ too, and stay as they were until the next start');
}
