import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findRedisBinary, redisInstallLine } from '../../src/runtime/redis-binary.js';
import { stateDirOf } from '../../src/runtime/state-dir.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'changefeed-place-'));
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
] as const)('knows how Redis is installed on %s (%j)', (platform, osRelease, line) => {
  expect(redisInstallLine(platform, osRelease)).toMatch(line);
});

it('finds redis-server before valkey-server, and only where it can be run', () => {
  const [first, second] = [folder(), folder()];
  writeFileSync(join(first, 'valkey-server'), '', { mode: 0o755 });
  writeFileSync(join(first, 'redis-server'), '', { mode: 0o644 });
  expect(findRedisBinary(`${first}:${second}`)).toBe(join(first, 'valkey-server'));
  writeFileSync(join(second, 'redis-server'), '', { mode: 0o755 });
  expect(findRedisBinary(`${first}:${second}`)).toBe(join(second, 'redis-server'));
  expect(findRedisBinary('')).toBeUndefined();
  expect(findRedisBinary(undefined)).toBeUndefined();
});

it('keeps state in the project where there is one, else with the user, else where it is told', () => {
  const cwd = folder();
  expect(stateDirOf({ cwd, env: {}, home: '/home/u' })).toBe('/home/u/.local/state/changefeed');
  expect(stateDirOf({ cwd, env: { XDG_STATE_HOME: '/s' }, home: '/home/u' })).toBe('/s/changefeed');
  writeFileSync(join(cwd, 'changefeed.config.json'), '{}');
  expect(stateDirOf({ cwd, env: {}, home: '/home/u' })).toBe(join(cwd, '.changefeed'));
  expect(stateDirOf({ cwd, env: { CHANGEFEED_STATE_DIR: 'here' }, home: '/home/u' })).toBe(join(cwd, 'here'));
  expect(stateDirOf({ cwd, env: { CHANGEFEED_STATE_DIR: '/there' }, home: '/home/u' })).toBe('/there');
});

it('keeps the state of each source in a folder of its own where the environment alone names it, outside a project', () => {
  const cwd = folder();
  const at = (baseUrl: string, env = {}): string => stateDirOf({ cwd, env, home: '/home/u', baseUrl });
  expect(at('https://CRM.example:443/api/')).toBe(at('https://crm.example/api'));
  expect(at('https://crm.example/api')).toMatch(/^\/home\/u\/\.local\/state\/changefeed\/crm\.example-[0-9a-f]{8}$/);
  const others = [
    'https://crm.example/other',
    'http://crm.example/api',
    'https://crm.example:8443/api',
    'http://[::1]/api',
  ];
  expect(new Set([...others.map((one) => at(one)), at('https://crm.example/api')]).size).toBe(5);
  expect(at('https://crm.example/api', { CHANGEFEED_STATE_DIR: '/there' })).toBe('/there');
  writeFileSync(join(cwd, 'package.json'), '{}');
  expect(at('https://crm.example/api')).toBe(join(cwd, '.changefeed'));
});
