import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useCli, type CliFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { WORKSPACE, eventLoad } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';

const RECORDS = Array.from({ length: 20 }, (_, n) => `r${n}`);

describe('reload: a running service under load', { timeout: 240_000 }, () => {
  const redis = useRedis();
  const cli = useCli();

  const configOf = (...subscriptions: string[]): string => `
    import { defineConfig, defineHandler } from 'crm-changefeed';
    import { handle } from './handle.js';
    const subscribe = (name: string, version: string) =>
      defineHandler({ name, start: 'beginning', handle: (event) => handle(name, version, event) });
    export default defineConfig({
      workspaces: [{ name: '${WORKSPACE}', baseUrl: 'http://127.0.0.1:9', token: 'none' }],
      subscriptions: [${subscriptions.join(', ')}],
      redis: { prefix: '${redis.keys.prefix}' },
    });`;
  const handlerOf = (mark: string): string => `
    import { appendFileSync } from 'node:fs';
    export function handle(name, version, event) {
      appendFileSync(name + '.txt', [event.subject, event.data.sequence, version, '${mark}', process.pid].join(' ') + '\\n');
    }`;
  const linesOf = async ({ cwd }: CliFolder, name: string): Promise<string[][]> => {
    const text = await readFile(join(cwd, `${name}.txt`), 'utf8').catch(() => '');
    return text.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ')]));
  };

  const load = (folder: CliFolder): (() => Promise<number>) =>
    eventLoad(redis, RECORDS, async (sequence) => {
      const kept = async (): Promise<void> =>
        expect((await linesOf(folder, 's')).length).toBeGreaterThan(RECORDS.length * sequence - 200);
      await eventually(kept);
    });

  it('reload: a changed configuration or import is applied, by file and by SIGHUP; an invalid one is refused and the old one stays', async () => {
    const folder = await cli({
      'package.json': { type: 'module' },
      'changefeed.config.ts': configOf(`subscribe('s', 'v1')`, `subscribe('goes', 'v1')`),
      'handle.js': handlerOf('first'),
    });
    const write = (name: string, text: string): Promise<void> => writeFile(join(folder.cwd, name), text);
    const env = { REDIS_URL: redis.url, LOG_LEVEL: 'info' };
    const service = folder.start(['start', '--only', 'dispatch,handle'], env);
    const reloads = (): number => service.stderr.split('configuration was reloaded').length - 1;
    const latest = async (name: string) => (await linesOf(folder, name)).at(-1)?.slice(2, 4).join(' ');
    const end = load(folder);
    await eventually(async () => expect(await latest('goes')).toBe('v1 first'));

    // A module that the configuration imports.
    await write('handle.js', handlerOf('second'));
    await eventually(async () => expect(await latest('s')).toBe('v1 second'));
    // The file itself: one changes, one goes, one comes.
    await write('changefeed.config.ts', configOf(`subscribe('s', 'v2')`, `subscribe('comes', 'v2')`));
    await eventually(async () => expect(await latest('comes')).toBe('v2 second'));
    const gone = (await linesOf(folder, 'goes')).length;
    // Invalid: reported once, and the old configuration stays.
    await write('changefeed.config.ts', configOf(`subscribe('s', 'v3'`));
    await service.waitForLine(/was not reloaded; the previous one stays in use/);
    const before = (await linesOf(folder, 's')).length;
    await eventually(async () => expect((await linesOf(folder, 's')).length).toBeGreaterThan(before + 50));
    expect(await latest('s')).toBe('v2 second');
    expect((await linesOf(folder, 'goes')).length).toBe(gone);
    // Right again, and asked for: no second passes unasked.
    await write(
      'changefeed.config.ts',
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
    expect(service.stderr.split('was not reloaded').length - 1).toBe(1);
    expect(reloads()).toBeGreaterThanOrEqual(3);
    expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});
