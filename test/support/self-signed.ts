/** A certificate for `localhost` that no authority issued, made by openssl. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export function selfSigned(): { dir: string; cert: string; key: string } {
  const dir = mkdtempSync(join(tmpdir(), 'changefeed-test-tls-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const made = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'.split(' ');
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', [...made, ...files, ...name], { stdio: 'ignore' });
  return { dir, cert, key };
}
