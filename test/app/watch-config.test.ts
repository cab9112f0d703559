import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Reloaded } from '../../src/app/reload.js';
import { digestFiles, watchConfig } from '../../src/app/watch-config.js';
import { loadConfig, type LoadedConfig } from '../../src/config/load.js';
import type { Config } from '../../src/config/schema.js';
import type { Log } from '../../src/runtime/log.js';
import { eventually } from '../support/eventually.js';
import { fastClock } from '../support/fast-clock.js';

let cwd: string;
let path: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'changefeed-watch-'));
  path = join(cwd, 'changefeed.config.json');
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const textOf = (...names: string[]): string =>
  JSON.stringify({
    workspaces: [{ name: 'acme', baseUrl: 'https://crm.example', token: 't' }],
    subscriptions: names.map((name) => ({ handler: 'ndjson', name })),
  });

/** Watches the file and records what is applied and what is logged. */
async function watching() {
  writeFileSync(path, textOf('a'));
  const reread = (): Promise<LoadedConfig> => loadConfig({ cwd, env: {}, path, library: () => Promise.resolve({}) });
  const applied: string[] = [];
  const logged: string[] = [];
  const add = (_facts: object, message: string): void => void logged.push(message);
  const log: Log = { debug: add, info: add, warn: add, error: add, child: () => log };
  const reload = ({ subscriptions }: Config): Promise<Reloaded> => {
    applied.push(subscriptions.map(({ name }) => name).join(' '));
    return Promise.resolve({ added: [], changed: [], removed: [], workspaces: [], needsRestart: [] });
  };
  const stopping = new AbortController();
  const files = await digestFiles((await reread()).files);
  const watch = watchConfig({ reload, reread, files, log, clock: fastClock(20) }, stopping.signal);
  const running = watch.run();
  onTestFinished(async () => {
    stopping.abort();
    await running;
  });
  return { applied, logged, reload: watch.reload };
}

describe('configuration watch', () => {
  it('configuration watch: a file is applied whether it is written in place or renamed into place', async () => {
    const { applied } = await watching();
    writeFileSync(path, textOf('a', 'b'));
    await eventually(() => expect(applied).toEqual(['a b']));
    writeFileSync(join(cwd, 'next'), textOf('c'));
    renameSync(join(cwd, 'next'), path);
    await eventually(() => expect(applied).toEqual(['a b', 'c']));
  });

  it('configuration watch: an invalid file is logged once, and the next valid one is applied', async () => {
    const { applied, logged } = await watching();
    writeFileSync(path, textOf('a').slice(0, 40));
    await eventually(() =>
      expect(logged).toEqual(['the configuration was not reloaded; the previous one stays in use']),
    );
    rmSync(path);
    await eventually(() => expect(logged).toHaveLength(2));
    writeFileSync(path, textOf('d'));
    await eventually(() => expect(applied).toEqual(['d']));
    expect(logged).toHaveLength(3);
  });

  it('configuration watch: a requested reload reads the file again even when it has not changed', async () => {
    const { applied, reload } = await watching();
    reload();
    await eventually(() => expect(applied).toEqual(['a']));
    reload();
    await eventually(() => expect(applied).toEqual(['a', 'a']));
  });
});
