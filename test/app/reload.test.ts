import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Reloaded } from '../../src/app/changefeed.js';
import { digestFiles, keepUpWithConfig } from '../../src/app/reload.js';
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

/** A service that only keeps up with its configuration: what it took over, what it said. */
async function watching() {
  writeFileSync(path, textOf('a'));
  const reread = (): Promise<LoadedConfig> => loadConfig({ cwd, env: {}, path, library: () => Promise.resolve({}) });
  const taken: string[] = [];
  const said: string[] = [];
  const say = (facts: object, message: string): void => void said.push(message);
  const log: Log = { debug: say, info: say, warn: say, error: say, child: () => log };
  const reload = ({ subscriptions }: Config): Promise<Reloaded> => {
    taken.push(subscriptions.map(({ name }) => name).join(' '));
    return Promise.resolve({ added: [], changed: [], removed: [], workspaces: [], needsRestart: [] });
  };
  const stopping = new AbortController();
  const { files } = await reread();
  const digests = await digestFiles(files);
  const watch = keepUpWithConfig(
    { feed: { reload }, log, files: digests, reread, clock: fastClock(20) },
    stopping.signal,
  );
  const running = watch.run();
  onTestFinished(async () => {
    stopping.abort();
    await running;
  });
  return { taken, said, reload: watch.reload };
}

describe('a configuration file that changes while the service runs', () => {
  it('is taken over however it is written: in place, or beside and renamed', async () => {
    const { taken } = await watching();
    writeFileSync(path, textOf('a', 'b'));
    await eventually(() => expect(taken).toEqual(['a b']));
    writeFileSync(join(cwd, 'next'), textOf('c'));
    renameSync(join(cwd, 'next'), path);
    await eventually(() => expect(taken).toEqual(['a b', 'c']));
  });

  it('that is not valid is told once, and the next valid one is taken over', async () => {
    const { taken, said } = await watching();
    writeFileSync(path, textOf('a').slice(0, 40));
    await eventually(() => expect(said).toEqual(['the configuration was not taken over; the old one goes on']));
    rmSync(path);
    await eventually(() => expect(said).toHaveLength(2));
    writeFileSync(path, textOf('d'));
    await eventually(() => expect(taken).toEqual(['d']));
    expect(said).toHaveLength(3);
  });

  it('is read again when somebody asks, changed or not', async () => {
    const { taken, reload } = await watching();
    reload();
    await eventually(() => expect(taken).toEqual(['a']));
    reload();
    await eventually(() => expect(taken).toEqual(['a', 'a']));
  });
});
