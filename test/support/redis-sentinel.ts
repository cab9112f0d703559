/** A master, its replica and a sentinel that promotes it, for one test. Does not import vitest. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../../src/redis/private/launch.js';
import { eventually } from './eventually.js';
import { launchRedis, redisBinary, tlsSettings, type Certificate, type PrivateRedis } from './private-redis.js';

const PASSWORD = 'test-password';
const NAME = 'feed';
/** Longer than a promotion takes. */
const PAUSE_MS = 20_000;

export interface WatchedRedis {
  /** Names a sentinel that is gone before the one that runs. */
  readonly url: string;
  readonly master: PrivateRedis;
  masterPort(): Promise<number>;
  /** The replica becomes the master when it has everything that was written, and the master its replica. */
  switchOver: () => Promise<void>;
  close: () => Promise<void>;
}

/** @param options `tls`: all connections are encrypted, also those between the servers; then there is no `switchOver` */
export async function launchWatchedRedis({ tls }: { tls?: Certificate } = {}): Promise<WatchedRedis> {
  const encrypted = async (): Promise<{ port: number | undefined; lines: string[] }> => {
    if (tls === undefined) return { port: undefined, lines: [] };
    const port = await freePort();
    return { port, lines: [...tlsSettings({ ...tls, port }), 'tls-replication yes'] };
  };
  const settings = ['appendonly no', `masterauth ${PASSWORD}`, 'repl-diskless-sync-delay 0'];
  const ofMaster = await encrypted();
  const master = await launchRedis({ settings: [...settings, ...ofMaster.lines] });
  const watchedPort = ofMaster.port ?? master.port;
  const replicaOf = `replicaof 127.0.0.1 ${watchedPort}`;
  const replica = await launchRedis({ settings: [...settings, ...(await encrypted()).lines, replicaOf] });
  const ofSentinel = await encrypted();
  const port = ofSentinel.port ?? (await freePort());
  const dir = await mkdtemp(join(tmpdir(), 'changefeed-test-sentinel-'));
  const file = join(dir, 'sentinel.conf');
  const lines = [
    ...['bind 127.0.0.1', `port ${tls ? 0 : port}`, `dir ${dir}`, 'protected-mode yes', ...ofSentinel.lines],
    ...[`sentinel monitor ${NAME} 127.0.0.1 ${watchedPort} 1`, `sentinel auth-pass ${NAME} ${PASSWORD}`],
    ...[`sentinel down-after-milliseconds ${NAME} 1000`, `sentinel failover-timeout ${NAME} 10000`],
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const sentinel = spawn(redisBinary ?? 'redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  const asking = new Redis(port, {
    ...{ retryStrategy: () => 50, maxRetriesPerRequest: null },
    ...(tls && { tls: { ca: await readFile(tls.cert) } }),
  });
  asking.on('error', () => undefined);
  const masterPort = async (): Promise<number> => {
    const [, found] = (await asking.call('SENTINEL', 'get-master-addr-by-name', NAME)) as [string, string];
    return Number(found);
  };
  const replicaIsKnown = async (): Promise<void> => {
    const known = (await asking.call('SENTINEL', 'replicas', NAME)) as string[][];
    if (known.length !== 1 || known[0]?.[known[0].indexOf('master-link-status') + 1] !== 'ok')
      throw new Error('The sentinel does not know the replica yet.');
  };
  await eventually(replicaIsKnown);
  const isFree = async (): Promise<void> => {
    const found = (await asking.call('SENTINEL', 'master', NAME)) as string[];
    if (found[found.indexOf('flags') + 1] !== 'master') throw new Error('The last failover is not over.');
  };
  const switchOver = async (): Promise<void> => {
    await eventually(isFree, { timeoutMs: 40_000 });
    const before = await masterPort();
    const old = new Redis(before, { password: PASSWORD });
    try {
      await old.call('CLIENT', 'PAUSE', PAUSE_MS, 'WRITE');
      await eventually(async () => {
        const offsets = /offset=(\d+)[^]*master_repl_offset:(\d+)/.exec(await old.info('replication'));
        if (offsets?.[1] === undefined || offsets[1] !== offsets[2]) throw new Error('The replica lacks something.');
      });
      await asking.call('SENTINEL', 'FAILOVER', NAME);
      await eventually(async () => {
        if ((await masterPort()) === before) throw new Error('The replica was not promoted.');
      });
      // The sentinel does it too, after ten seconds. Until then clients would write into it.
      await old.replicaof('127.0.0.1', await masterPort());
      await old.call('CLIENT', 'UNPAUSE');
      await eventually(replicaIsKnown, { timeoutMs: 40_000 });
    } finally {
      old.disconnect();
    }
  };
  return {
    url: `${tls ? 'rediss' : 'redis'}+sentinel://:${PASSWORD}@127.0.0.1:1,127.0.0.1:${port}/${NAME}/0`,
    master,
    masterPort,
    switchOver,
    async close() {
      asking.disconnect();
      const ended = once(sentinel, 'exit');
      sentinel.kill('SIGKILL');
      await ended;
      await Promise.all([master.close(), replica.close(), rm(dir, { recursive: true, force: true })]);
    },
  };
}
