import { expect, it, onTestFinished } from 'vitest';
import { eventually } from './eventually.js';
import { useProcesses } from './process.js';
import { startPrivateRedis, useRedis } from './redis.js';
import { Redis } from 'ioredis';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const test = useRedis();
const spawnScript = useProcesses();
let prefix = '';

it('gives a test a namespace of its own in a real Redis', async () => {
  prefix = test.keys.prefix;
  await test.redis.set(`${prefix}:left-behind`, '1');
  expect(await test.connect().get(`${prefix}:left-behind`)).toBe('1');
});

it('has swept away what the last test left', async () => {
  expect(test.keys.prefix).not.toBe(prefix);
  expect(await test.redis.exists(`${prefix}:left-behind`)).toBe(0);
});

it('restarts a private Redis with its data, even after a kill', async () => {
  const server = await startPrivateRedis({ settings: ['appendfsync always'] });
  const redis = new Redis(server.url, { maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  await redis.set('kept', 'yes');
  await server.kill();
  await server.restart();
  expect(await redis.get('kept')).toBe('yes');
  redis.disconnect();
});

it('runs a TypeScript process, hears it, and kills it', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'changefeed-test-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const script = join(dir, 'loop.ts');
  await writeFile(script, `const n: number = 7; console.log('ready ' + n); setInterval(() => undefined, 1000);`);
  const child = spawnScript(script);
  expect(await child.waitForLine(/^ready/)).toBe('ready 7');
  expect(await child.kill()).toEqual({ code: null, signal: 'SIGKILL' });
});

it('says what a wait was waiting for', async () => {
  await expect(eventually(() => expect(1).toBe(2), { timeoutMs: 30 })).rejects.toThrow(/After waiting 30 ms/);
});
