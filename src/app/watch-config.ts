/**
 * Watches the files of a configuration and reloads it when they change. The files are read once a second, and a change is applied when
 * two reads in a row find the same content. This works for every way in which editors write files (in place, or as a new file that is
 * renamed) and for mounted folders, which send no change notifications. An invalid configuration is logged once and changes nothing.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { LoadedConfig } from '../config/load.js';
import type { Config } from '../config/schema.js';
import { ChangefeedError, messageOf } from '../errors.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { runLoop } from '../runtime/loop.js';
import type { Reloaded } from './reload.js';

export interface ConfigWatchOptions {
  reload: (config: Config) => Promise<Reloaded>;
  reread: () => Promise<LoadedConfig>;
  /** The files the running configuration was read from, with their digests. */
  files: FileDigests;
  log: Log;
  clock?: Clock;
}

export type FileDigests = ReadonlyMap<string, string>;

const READ_INTERVAL_MS = 1_000;
/** A reload waits for the handlers of removed subscriptions to finish. */
const STALL_MS = 600_000;

export function watchConfig(options: ConfigWatchOptions, signal: AbortSignal) {
  const { reread, log, clock = systemClock } = options;
  let files = [...options.files.keys()];
  let applied = options.files;
  let previous: FileDigests | undefined;
  let isRequested = false;
  let wake = new AbortController();

  const reloadOnce = async (found: FileDigests): Promise<void> => {
    applied = found;
    try {
      const loaded = await reread();
      files = [...loaded.files];
      // Files that were known keep their digest from before the read, so that a change during the read is found by the next turn.
      applied = new Map([...(await digestFiles(files)), ...found]);
      logReloaded(log, await options.reload(loaded.config));
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof ChangefeedError ? error.code : undefined;
      log.error({ error: messageOf(error), code }, 'the configuration was not reloaded; the previous one stays in use');
    }
  };
  const turn = async (): Promise<number> => {
    const either = AbortSignal.any([signal, wake.signal]);
    if (!isRequested) await clock.sleep(READ_INTERVAL_MS, either).catch(() => undefined);
    if (signal.aborted) return 0;
    const found = await digestFiles(files);
    const isStable = previous !== undefined && isSame(files, found, previous);
    previous = found;
    if (!isRequested && (!isStable || isSame(files, found, applied))) return 0;
    isRequested = false;
    await reloadOnce(found);
    return 0;
  };
  return {
    /** Reads and applies the configuration now, whether its files have changed or not. */
    reload: (): void => {
      isRequested = true;
      wake.abort();
      wake = new AbortController();
    },
    /** Watches the files until the signal aborts. */
    run: (): Promise<void> => runLoop({ name: 'configuration', run: turn, signal, stallMs: STALL_MS, log, clock }),
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
    // While an editor replaces a file, it may be missing for a moment.
    return String((error as NodeJS.ErrnoException).code);
  }
}

function isSame(files: readonly string[], a: FileDigests, b: FileDigests): boolean {
  return files.every((file) => a.get(file) === b.get(file));
}

function logReloaded(log: Log, { needsRestart, ...names }: Reloaded): void {
  const hasChanges = Object.values(names).some((some) => some.length > 0);
  log.info(names, hasChanges ? 'the configuration was reloaded' : 'the configuration was read again; nothing changed');
  if (needsRestart.length > 0)
    log.warn({ sections: needsRestart }, 'these sections changed too and take effect only after a restart');
}
