import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { openChangefeed } from '../../src/index.js';
import { freePort } from '../../src/redis/private/launch.js';
import { readRedisFacts } from '../../src/redis/facts.js';
import { checkRedis } from '../../src/redis/probe.js';
import { systemClock } from '../../src/kit/clock.js';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { isGate } from '../support/night.js';
import { tlsSettings } from '../support/private-redis.js';
import { launchCluster } from '../support/redis-cluster.js';
import { launchWatchedRedis } from '../support/redis-sentinel.js';
import { startPrivateRedis } from '../support/redis.js';
import { served } from '../support/sandbox.js';
import { selfSigned } from '../support/self-signed.js';
import { documentedRights } from './documented-rights.js';
import { RIGHT, runMainJob } from './main-job.js';

const folder = useCli();

it('access: a user with the rights that the docs list does the main job, and has no others', async () => {
  const server = await startPrivateRedis();
  const admin = new Redis(server.url);
  onTestFinished(() => admin.disconnect());
  const rights = documentedRights();
  await admin.call('ACL', 'SETUSER', 'changefeed', ...rights);
  const url = server.url.replace('redis://:test-password', 'redis://changefeed:password');
  await checkRedis(url);

  const refusals = async (name: string) =>
    (await readRedisFacts(url.replace('changefeed:', `${name}:`), systemClock)).map(({ refusal }) => refusal);
  await admin.call('ACL', 'SETUSER', 'blind', 'on', '>password', '~*', '+@all', '-info');
  expect(await refusals('blind')).toEqual([expect.stringMatching(/can't run this command|NOPERM/)]);
  expect(await refusals('changefeed')).toEqual([null]);
  await admin.call('ACL', 'LOG', 'RESET');

  expect(await runMainJob({ url, seed: 5, changes: 100, forgets: true })).toEqual(RIGHT);

  const denied = (await admin.call('ACL', 'LOG')) as string[][];
  // What an erasure asks for besides, so that the files of Redis are written anew: the docs name it, and the command says that it was refused.
  const besides = ['bgrewriteaof', 'config|get'];
  expect(denied.map((entry) => entry[entry.indexOf('object') + 1])).toEqual(besides);
});

function unableToEncrypt(): string | undefined {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
  } catch {
    return 'openssl is not installed';
  }
  try {
    // Without a certificate it ends at once: because of that, or because it does not know the setting.
    execFileSync('redis-server', ['--port', '0', '--tls-port', '1'], { stdio: 'pipe', timeout: 5_000 });
  } catch (error) {
    const { stdout } = error as { stdout?: Buffer };
    if (String(stdout).includes('tls-cert-file')) return undefined;
  }
  return 'redis-server was built without TLS';
}

const reason = unableToEncrypt();

const encrypted = it.skipIf(reason !== undefined);
const encryptedAtNight = it.skipIf(reason !== undefined || isGate);
const why = reason === undefined ? '' : ` (${reason})`;

/** The main job as a process that trusts the certificate; without that it refuses it. */
async function expectMainJob(
  { url, place, reason = 'self-signed certificate' }: { url: string; place: string; reason?: string },
  cert: string,
): Promise<void> {
  const { sandbox, target } = await served({ seed: 6 });
  const env = { REDIS_URL: url, CHANGEFEED_BASE_URL: target.url, CHANGEFEED_TOKEN: target.token };
  const cli = await folder();

  const refused = await cli.run(['sweep'], env);
  expect(refused.stderr).toContain(`Redis at ${place}`);
  expect(refused.stderr).toContain(reason);
  expect(refused.stderr).not.toContain('test-password');

  const process = cli.start(['start'], { ...env, NODE_EXTRA_CA_CERTS: cert });
  await process.waitForLine(/baseline/i);
  sandbox.step(50);
  await eventually(() => expect(process.stdout).toMatch(/"type":"crm\.\w+\.updated"/));
}

encrypted(`access: rediss:// does the main job, and refuses a certificate that it cannot trust${why}`, async () => {
  const { cert, key } = selfSigned();
  const port = await freePort();
  await startPrivateRedis({ settings: tlsSettings({ port, cert, key }) });
  const place = `localhost:${port}`;
  await expectMainJob({ url: `rediss://:test-password@${place}/0`, place }, cert);
});

encrypted(`access: a program gives user, password and certificate apart from the address${why}`, async () => {
  const { cert, key } = selfSigned();
  const port = await freePort();
  await startPrivateRedis({ settings: tlsSettings({ port, cert, key }) });
  const { target } = await served({ seed: 6 });
  const open = (tls?: object) =>
    openChangefeed({
      workspaces: [{ name: 'acme', baseUrl: target.url, token: target.token }],
      redis: { url: `rediss://localhost:${port}/0`, options: { password: 'test-password', ...(tls && { tls }) } },
    });
  await expect(open()).rejects.toMatchObject({ code: 'CF_REDIS_UNREACHABLE' });
  const feed = await open({ ca: readFileSync(cert) });
  onTestFinished(() => feed.stop());
  expect(await feed.sweep({ lists: ['people'] })).toMatchObject([{ outcome: 'complete' }]);
  await feed.start();
});

encryptedAtNight(`access: the same of a Redis Cluster${why}`, async () => {
  const { cert, key } = selfSigned();
  const cluster = await launchCluster({ tls: { cert, key } });
  onTestFinished(() => cluster.close());
  await expectMainJob({ url: cluster.url, place: cluster.nodes.join(', ') }, cert);
});

encryptedAtNight(`access: the same of Sentinel${why}`, async () => {
  const { cert, key } = selfSigned();
  const watched = await launchWatchedRedis({ tls: { cert, key } });
  onTestFinished(() => watched.close());
  // The client does not tell why a sentinel cannot be reached.
  const reason = 'All sentinels are unreachable';
  await expectMainJob({ url: watched.url, place: '127.0.0.1:1, 127.0.0.1:', reason }, cert);
});
