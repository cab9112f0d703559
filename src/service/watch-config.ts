/** Files are read once a second: mounted folders send no notifications. A change counts when two reads agree. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { addEnvFile, envFileIn } from '../config/env-file.js';
import { ChangefeedError, messageOf } from '../kit/errors.js';
import { isAborted, isoTime, sleepUntilAborted, systemClock } from '../kit/clock.js';
import type { Log } from '../kit/log.js';
import { runLoop } from '../kit/loop.js';

export interface ConfigWatchOptions<Loaded> {
  cwd: string;
  env: Record<string, string | undefined>;
  load: () => Promise<Loaded>;
}

interface WatchedFiles {
  files: readonly string[];
  /** Changes while the service runs, and is then taken over by it. A configuration that is refused may be so because of it. */
  rulesFile: string | null;
}

const READ_INTERVAL_MS = 1_000;

export function watchConfig<Loaded extends WatchedFiles>({ cwd, env, load }: ConfigWatchOptions<Loaded>) {
  let files: readonly string[] = [];
  let rulesFiles: readonly string[] = [];
  let lastRead = new Map<string, string>();
  let refused: { error: string; since: string } | null = null;
  let isRequested = false;
  let wake = new AbortController();

  /** @throws what `load` throws; the environment is then as it was */
  const read = async (): Promise<Loaded & { configReadAtMs: number }> => {
    isRequested = false;
    const configReadAtMs = systemClock.monotonic();
    lastRead = await digestsOf([...files, ...rulesFiles]);
    const undo = addEnvFile(cwd, env);
    try {
      const loaded = await load();
      files = [...loaded.files, envFileIn(cwd)];
      rulesFiles = loaded.rulesFile === null ? [] : [loaded.rulesFile];
      // The digest of one from before the read stays, so that a change during the read is found.
      lastRead = new Map([...(await digestsOf([...files, ...rulesFiles])), ...lastRead]);
      refused = null;
      return { ...loaded, configReadAtMs };
    } catch (error) {
      undo();
      throw error;
    }
  };
  return {
    read,
    /** Why the last one was not applied; null if it was. */
    refused: (): { error: string; since: string } | null => refused,
    /** The next valid one, after its files have changed or `request` was called. Undefined when the signal aborts. */
    async next(log: Log, signal: AbortSignal): Promise<(Loaded & { configReadAtMs: number }) | undefined> {
      let found: (Loaded & { configReadAtMs: number }) | undefined;
      let previous = new Map<string, string>();
      const over = new AbortController();
      const run = async (): Promise<number> => {
        const either = AbortSignal.any([signal, wake.signal]);
        if (!isRequested) await sleepUntilAborted(systemClock, READ_INTERVAL_MS, either);
        if (isAborted(signal)) return 0;
        const now = await digestsOf(refused === null ? files : [...files, ...rulesFiles]);
        const isStable = isWithin(now, previous);
        previous = now;
        if (!isRequested && (!isStable || isWithin(now, lastRead))) return 0;
        try {
          found = await read();
          over.abort();
        } catch (error) {
          const code = error instanceof ChangefeedError ? error.code : undefined;
          const text = messageOf(error);
          refused = { error: text, since: refused?.since ?? isoTime(systemClock.now()) };
          log.error({ error: text, code }, 'the configuration is not valid and was not applied');
        }
        return 0;
      };
      await runLoop({ name: 'configuration', run, signal: AbortSignal.any([signal, over.signal]), log });
      return found;
    },
    request: (): void => {
      isRequested = true;
      wake.abort();
      wake = new AbortController();
    },
  };
}

const isWithin = (some: ReadonlyMap<string, string>, all: ReadonlyMap<string, string>): boolean =>
  [...some].every(([file, digest]) => all.get(file) === digest);

async function digestsOf(files: readonly string[]): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for (const file of files) {
    // While an editor replaces a file, it may be missing for a moment.
    const content = await readFile(file).catch((error: unknown) => messageOf(error));
    digests.set(file, createHash('sha256').update(content).digest('base64'));
  }
  return digests;
}
