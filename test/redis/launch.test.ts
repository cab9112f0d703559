import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findRedisBinary, redisInstallLine } from '../../src/redis/private/launch.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'changefeed-launch-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

it.each([
  ['linux', 'ID=ubuntu\nID_LIKE=debian', /apt-get install -y redis-server/],
  ['linux', 'NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"', /apt-get/],
  ['linux', 'ID=fedora', /dnf install/],
  ['linux', 'ID="rocky"\nID_LIKE="rhel centos fedora"', /dnf install -y redis/],
  ['linux', 'ID=alpine', /apk add/],
  ['linux', 'ID=arch', /pacman/],
  ['linux', '', /package manager of this system/],
  ['darwin', '', /brew install redis/],
  ['win32', '', /wsl/],
] as const)('private Redis: the install line for %s (%j)', (platform, osRelease, line) => {
  expect(redisInstallLine(platform, osRelease)).toMatch(line);
});

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
