/** A changed configuration restarts the service in its process: what is lost by that, and what is not. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { addressOf } from '../../src/redis/private/address.js';
import { freePort } from '../../src/redis/private/launch.js';
import { useCli, type CliFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { eventLoad } from '../support/fan-out.js';
import { WORKSPACE, appendEvents, changeEvent } from '../support/events.js';
import { isGate } from '../support/night.js';
import { OPERATE } from '../support/page-feed.js';
import { redisBinary } from '../support/private-redis.js';
import type { TestProcess } from '../support/process.js';
import { startRedisProxy } from '../support/redis-proxy.js';
import { useRedis } from '../support/redis.js';

const RECORDS = Array.from({ length: 20 }, (_, n) => `r${n}`);
const CONFIG = 'changefeed.config.ts';

describe('restart: a running service', { timeout: 240_000 }, () => {
  const redis = useRedis();
  const cli = useCli();

  /** @param subscriptions calls of `subscribe(name, version, start)` */
  const configOf = (...subscriptions: string[]): string => `
    import { defineConfig, defineHandler } from 'crm-changefeed';
    import { handle } from './handle.js';
    const subscribe = (name: string, version: string, start = 'beginning') =>
      defineHandler({ name, start, handle: (event) => handle(name, version, event) });
    export default defineConfig({
      workspaces: [{ name: '${WORKSPACE}', baseUrl: 'http://127.0.0.1:9', token: 'none' }],
      subscriptions: [${subscriptions.join(', ')}],
      redis: { prefix: '${redis.keys.prefix}' },
      http: { enabled: false },
    });`;
  const handlerOf = (mark: string): string => `
    import { appendFileSync } from 'node:fs';
    export function handle(name, version, event) {
      appendFileSync(name + '.txt', [event.subject, event.data.sequence, version, '${mark}', process.pid].join(' ') + '\\n');
      if (name === 'slow') return new Promise(() => {});
    }`;
  const linesOf = async ({ cwd }: CliFolder, name: string): Promise<string[][]> => {
    const text = await readFile(join(cwd, `${name}.txt`), 'utf8').catch(() => '');
    return text.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ')]));
  };
  const write = ({ cwd }: CliFolder, name: string, text: string): Promise<void> => writeFile(join(cwd, name), text);
  const count = ({ stderr }: TestProcess, text: string): number => stderr.split(text).length - 1;
  const runs = (service: TestProcess, times: number): Promise<void> =>
    eventually(() => expect(count(service, 'changefeed is running')).toBe(times));
  const append = (sequence: number): Promise<string[]> =>
    appendEvents(redis, [changeEvent({ record: 'r1', sequence })]);

  async function started(files: Record<string, string>, env: Record<string, string> = {}) {
    const folder = await cli({ 'package.json': { type: 'module' }, 'handle.js': handlerOf('first'), ...files });
    const all = { REDIS_URL: redis.url, LOG_LEVEL: 'info', ...env };
    const service = folder.start(['start', '--only', 'dispatch,handle'], all);
    await runs(service, 1);
    return { folder, service };
  }

  it('restart: by a changed file or import, and by SIGHUP, no event is lost, handled twice or out of order', async () => {
    const { folder, service } = await started({
      [CONFIG]: configOf(`subscribe('s', 'v1')`, `subscribe('goes', 'v1')`),
    });
    const latest = async (name: string) => (await linesOf(folder, name)).at(-1)?.slice(2, 4).join(' ');
    const end = eventLoad(redis, RECORDS, async (sequence) => {
      const kept = async (): Promise<void> =>
        expect((await linesOf(folder, 's')).length).toBeGreaterThan(RECORDS.length * sequence - 200);
      await eventually(kept);
    });
    await eventually(async () => expect(await latest('goes')).toBe('v1 first'));

    await write(folder, 'handle.js', handlerOf('second'));
    await eventually(async () => expect(await latest('s')).toBe('v1 second'));
    await write(folder, CONFIG, configOf(`subscribe('s', 'v2')`, `subscribe('comes', 'v2')`));
    await eventually(async () => expect(await latest('comes')).toBe('v2 second'));
    const gone = (await linesOf(folder, 'goes')).length;
    await write(folder, CONFIG, configOf(`subscribe('s', 'v3'`));
    await service.waitForLine(/not valid and was not applied/);
    const before = (await linesOf(folder, 's')).length;
    await eventually(async () => expect((await linesOf(folder, 's')).length).toBeGreaterThan(before + 50));
    expect(await latest('s')).toBe('v2 second');
    expect((await linesOf(folder, 'goes')).length).toBe(gone);
    await write(
      folder,
      CONFIG,
      configOf(`subscribe('s', 'v4')`, `subscribe('goes', 'v4')`, `subscribe('comes', 'v4')`),
    );
    process.kill(service.pid, 'SIGHUP');
    await eventually(async () => expect(await latest('goes')).toBe('v4 second'));
    const last = await end();

    const all = Array.from({ length: last }, (_, n) => n + 1);
    for (const name of ['s', 'goes', 'comes']) {
      const handled = await eventually(async () => {
        const lines = await linesOf(folder, name);
        expect(lines.length).toBeGreaterThanOrEqual(RECORDS.length * last);
        return lines;
      });
      for (const record of RECORDS) {
        const sequences = handled.flatMap(([subject, sequence]) => (subject === record ? [Number(sequence)] : []));
        expect({ name, record, sequences }).toEqual({ name, record, sequences: all });
      }
      expect(new Set(handled.map((words) => words[4]))).toEqual(new Set([String(service.pid)]));
    }
    expect(count(service, 'was not applied')).toBe(1);
    expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it.skipIf(redisBinary === undefined)('restart: a private Redis goes on, and ends with the service', async () => {
    const { folder, service } = await started({ [CONFIG]: configOf() }, { REDIS_URL: '' });
    const { url } = await addressOf(join(folder.cwd, 'state'));
    const held = new Redis(url, { retryStrategy: () => null });
    held.on('error', () => undefined);
    const ended = new Promise((resolve) => held.once('end', resolve));
    process.kill(service.pid, 'SIGHUP');
    await runs(service, 2);
    expect(held.status).toBe('ready');
    expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    await ended;
  });

  it('restart: `.env` is read again: its values are replaced or removed, those of the process stay', async () => {
    const config = configOf(
      `...['FIRST', 'OWN', 'ADDED'].map((name) => subscribe(name + '.' + process.env[name], ''))`,
    );
    const env = { OWN: 'process' };
    const { folder, service } = await started({ [CONFIG]: config, '.env': 'FIRST=1\nOWN=file\n' }, env);
    const subscriptions = (): string[] =>
      [...service.stderr.matchAll(/"subscriptions":(\[.*?\]).*changefeed is running/g)].map(([, names = '']) => names);
    await write(folder, '.env', 'FIRST=2\nOWN=other\nADDED=3\n');
    await runs(service, 2);
    process.kill(service.pid, 'SIGHUP');
    await runs(service, 3);
    await write(folder, '.env', 'FIRST=2\nLOG_LEVEL=loud\nADDED=not a name\n');
    await service.waitForLine(/not valid and was not applied/);
    await rm(join(folder.cwd, '.env'));
    await runs(service, 4);
    const second = '["FIRST.2","OWN.process","ADDED.3"]';
    expect(subscriptions()).toEqual([
      '["FIRST.1","OWN.process","ADDED.undefined"]',
      second,
      second,
      '["FIRST.undefined","OWN.process","ADDED.undefined"]',
    ]);
  });

  it('restart: while Redis is away it is tried again, and a new subscription gets what was logged since its configuration was read', async () => {
    const proxy = await startRedisProxy(redis.url);
    const { folder, service } = await started(
      { [CONFIG]: configOf(`subscribe('old', 'v1')`) },
      { REDIS_URL: proxy.url },
    );
    await append(1);
    await eventually(async () => expect(await linesOf(folder, 'old')).toHaveLength(1));
    // The handler has returned, and Redis knows it: otherwise the event would rightly be repeated.
    await eventually(async () => expect(await redis.redis.zcard(redis.keys.pending('old', 'acme'))).toBe(0));
    proxy.leadTo('redis://127.0.0.1:1');
    await write(folder, CONFIG, configOf(`subscribe('old', 'v2')`, `subscribe('new', 'v2', 'now')`));
    await service.waitForLine(/changefeed does not run/);
    await append(2);
    proxy.leadTo(redis.url);
    await runs(service, 2);
    await append(3);
    const handled = async (name: string) => (await linesOf(folder, name)).map((words) => words.slice(1, 3).join(' '));
    await eventually(async () => expect(await handled('new')).toEqual(['2 v2', '3 v2']));
    await eventually(async () => expect(await handled('old')).toEqual(['1 v1', '2 v2', '3 v2']));
    proxy.leadTo('redis://127.0.0.1:1');
    process.kill(service.pid, 'SIGHUP');
    await eventually(() => expect(count(service, 'changefeed does not run')).toBe(2));
    expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(service.stderr).toContain('Stopped while the service was not running.\n');
  });

  it('restart: the page is never away: who asks meanwhile is told to ask again, and the session goes on', async () => {
    const port = await freePort();
    const served = (version: string): string =>
      configOf(`subscribe('s', '${version}')`).replace(
        'http: { enabled: false }',
        `http: { port: ${port}, tokens: { operate: '${OPERATE}' } }`,
      );
    const { folder, service } = await started({ [CONFIG]: served('v1') });
    const at = (path: string): string => `http://127.0.0.1:${port}${path}`;
    const action = { 'content-type': 'application/json', 'x-changefeed-action': '1' };
    const body = JSON.stringify({ token: OPERATE });
    const cookie = (await fetch(at('/api/session'), { method: 'POST', headers: action, body })).headers.get(
      'set-cookie',
    );
    const session = async (): Promise<unknown> => {
      const answer = await fetch(at('/api/session'), { headers: { cookie: cookie ?? '' } });
      const { caller } = (await answer.json()) as { caller?: { role: string } };
      return answer.status === 200 ? caller?.role : answer.headers.get('x-changefeed-restarting');
    };
    await write(folder, CONFIG, served('v2'));
    const asked: unknown[] = [];
    await eventually(async () => {
      asked.push(await session());
      expect(count(service, 'changefeed is running')).toBe(2);
    });
    expect(await session()).toBe('operate');
    expect(new Set(asked)).toEqual(new Set(['operate', '1']));
    const moved = await freePort();
    await write(folder, CONFIG, served('v3').replace(String(port), String(moved)));
    await runs(service, 3);
    await expect(fetch(at('/healthz'))).rejects.toThrow('fetch failed');
    expect((await fetch(at('/healthz').replace(String(port), String(moved)))).status).toBe(200);
  });

  it.skipIf(isGate)('restart: a handler that does not end does not hold it', async () => {
    const { folder, service } = await started({ [CONFIG]: configOf(`subscribe('slow', 'v1')`) });
    await append(1);
    await eventually(async () => expect(await linesOf(folder, 'slow')).toHaveLength(1));
    await write(folder, CONFIG, configOf(`subscribe('other', 'v2')`));
    await service.waitForLine(/stop before the restart was not clean/);
    await eventually(async () => expect(await linesOf(folder, 'other')).toHaveLength(1));
  });
});
