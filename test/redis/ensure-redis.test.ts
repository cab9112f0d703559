import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../.ci/ensure-redis', import.meta.url));
const run = promisify(execFile);

/** The only directory on the PATH: the test decides which programs exist. */
let bin: string;
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), 'changefeed-bin-'));
});
afterEach(() => rmSync(bin, { recursive: true, force: true }));

function program(name: string, body: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(bin, name), 0o755);
}
const ensureRedis = (env: Record<string, string> = {}): Promise<{ stdout: string; stderr: string }> =>
  run('/bin/bash', [script], { env: { PATH: bin, ...env } });

it.each(['REDIS_URL', 'TEST_REDIS_URL'])('ensure-redis: does nothing if %s names a Redis', async (name) => {
  expect(await ensureRedis({ [name]: 'redis://named' })).toEqual({ stdout: '', stderr: '' });
});

it('ensure-redis: installs Redis as root with the package manager of the system', async () => {
  program('id', 'echo 0');
  symlinkSync('/bin/chmod', join(bin, 'chmod'));
  program(
    'apk',
    `[ "$1" = add ] || exit 1\nprintf '#!/bin/sh\\n' > '${bin}/redis-server'\nchmod 755 '${bin}/redis-server'`,
  );
  expect((await ensureRedis()).stderr).toMatch(/Redis is installed/);
});

it('ensure-redis: prints the install command and continues if it would have to ask for a password', async () => {
  program('id', 'echo 1000');
  program('sudo', 'exit 1');
  program('apt-get', 'exit 1');
  expect((await ensureRedis()).stderr).toMatch(/Install it: sudo apt-get install -y redis-server\n.*REDIS_URL/);
});
