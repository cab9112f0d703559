import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findRedisBinary } from '../../src/redis/private/launch.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'changefeed-launch-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

it('private Redis: uses redis-server before valkey-server, and only a program that it may execute', () => {
  const [first, second] = [folder(), folder()];
  writeFileSync(join(first, 'valkey-server'), '', { mode: 0o755 });
  writeFileSync(join(first, 'redis-server'), '', { mode: 0o644 });
  expect(findRedisBinary(`${first}:${second}`)).toBe(join(first, 'valkey-server'));
  writeFileSync(join(second, 'redis-server'), '', { mode: 0o755 });
  expect(findRedisBinary(`${first}:${second}`)).toBe(join(second, 'redis-server'));
  expect(findRedisBinary('')).toBeUndefined();
  expect(findRedisBinary(undefined)).toBeUndefined();
});
