import { chmod, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pageToken } from '../../src/service/page-token.js';
import { createLog } from '../../src/ops/log.js';
import { silentLog } from '../../src/kit/log.js';
import { openFeed } from '../support/feed.js';
import { testFolder } from '../support/folder.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

describe('page token', () => {
  it('page token: is made once, for this user only', async () => {
    const stateDir = join(testFolder(), 'state');
    const { token, file } = pageToken(stateDir, silentLog);
    expect(token).toMatch(/^[\w-]{32}$/);
    expect((await stat(file ?? '')).mode & 0o777).toBe(0o600);
    expect(pageToken(stateDir, silentLog)).toEqual({ token, file });
  });

  it('page token: what others could have read or written is replaced', async () => {
    const stateDir = testFolder();
    const file = join(stateDir, 'http-token');
    const known = 'a'.repeat(32);
    const elsewhere = join(testFolder(), 'token');
    await writeFile(elsewhere, known, { mode: 0o600 });
    const planted = [
      async () => {
        await writeFile(file, known);
        await chmod(file, 0o644);
      },
      () => writeFile(file, '', { mode: 0o600 }),
      () => symlink(elsewhere, file),
    ];
    for (const plant of planted) {
      await rm(file, { force: true });
      await plant();
      expect(pageToken(stateDir, silentLog).token).not.toBe(known);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
    expect(await readFile(elsewhere, 'utf8')).toBe(known);
  });

  it('page token: where the state folder cannot be written, it lives as long as the process', async () => {
    const notAFolder = join(testFolder(), 'file');
    await writeFile(notAFolder, '');
    const { token, file } = pageToken(join(notAFolder, 'state'), silentLog);
    expect({ file, length: token.length }).toEqual({ file: null, length: 32 });
  });

  const redis = useRedis();
  it('page token: without credentials in the configuration, nothing is seen or done without it, and no log holds it', async () => {
    const { url, token: crmToken } = await startOtherCrm();
    const lines: string[] = [];
    const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
    const config = { workspaces: [{ name: 'acme', baseUrl: url, token: crmToken }], http: { port: 0 } };
    const feed = await openFeed(redis, config, { http: true, log, stateDir: testFolder() });
    await feed.start(['dispatch']);
    const [address = '', token = ''] = (feed.pageLink ?? '').split('/#t=');
    expect(address).toBe(feed.pageUrl);
    const action = { method: 'POST', headers: { 'x-changefeed-action': '1', 'content-type': 'application/json' } };
    const ask = async (path: string, init: RequestInit = {}) => (await fetch(`${address}${path}`, init)).status;
    expect(await ask('/healthz')).toBe(200);
    for (const path of ['/api/events', '/events', '/metrics', '/api/status']) expect(await ask(path)).toBe(401);
    expect(await ask('/api/dead-letters/drop', { ...action, body: '{"all":true}' })).toBe(401);
    expect(await ask('/api/events', { headers: { authorization: `Bearer ${token}` } })).toBe(200);
    expect(await ask('/api/session', { ...action, body: JSON.stringify({ token }) })).toBe(200);
    expect(lines.join('')).not.toContain(token);
  });
});
