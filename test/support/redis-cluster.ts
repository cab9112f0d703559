/** A Redis Cluster of three masters for one test, which may kill its servers and move its slots. Does not import vitest. */
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { freePort } from '../../src/redis/private/launch.js';
import { eventually } from './eventually.js';
import { launchRedis, tlsSettings, type Certificate, type PrivateRedis } from './private-redis.js';

const SLOTS = 16_384;
const PASSWORD = 'test-password';

export interface ClusterServer extends PrivateRedis {
  readonly redis: Redis;
  readonly id: string;
}

export interface TestCluster {
  readonly url: string;
  readonly nodes: readonly string[];
  readonly masters: readonly ClusterServer[];
  readonly replicas: readonly ClusterServer[];
  ownerOf(key: string): Promise<ClusterServer>;
  close(): Promise<void>;
}

export interface ClusterOptions {
  replicas?: boolean;
  persists?: boolean;
  tls?: Certificate;
  /** The wall clock of the replicas is behind by so many seconds. Needs a C compiler. @defaultValue 0 */
  replicasBehindS?: number;
}

/** A library that moves the wall clock of a program; null where there is no C compiler. */
export const clockShim = ((): string | null => {
  const library = join(tmpdir(), `changefeed-clock-shim-${process.pid}.so`);
  const source = fileURLToPath(new URL('clock-shim.c', import.meta.url));
  return spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source]).status === 0 ? library : null;
})();

/** Sets the environment of the programs that `launch` starts. */
async function withClock<T>(behindS: number, launch: () => Promise<T>): Promise<T> {
  if (behindS === 0) return await launch();
  const shim = { LD_PRELOAD: clockShim ?? '', CLOCK_SHIM_S: String(-behindS) };
  Object.assign(process.env, shim);
  try {
    return await launch();
  } finally {
    delete process.env['LD_PRELOAD'];
    delete process.env['CLOCK_SHIM_S'];
  }
}

export async function launchCluster({
  replicas: withReplicas = false,
  persists = false,
  tls,
  replicasBehindS = 0,
}: ClusterOptions = {}): Promise<TestCluster> {
  const tlsPorts: number[] = [];
  const encrypted = async (): Promise<string[]> => {
    if (tls === undefined) return [];
    const port = await freePort();
    tlsPorts.push(port);
    // Otherwise it tells the other ports.
    return [...tlsSettings({ ...tls, port }), 'tls-cluster yes'];
  };
  const launch = async (epoch: number): Promise<ClusterServer> => {
    const cluster = ['cluster-enabled yes', `cluster-port ${await freePort()}`, 'cluster-node-timeout 1500'];
    const replication = [`masterauth ${PASSWORD}`, 'repl-diskless-sync-delay 0'];
    const server = await launchRedis({
      settings: [`appendonly ${persists ? 'yes' : 'no'}`, ...cluster, ...replication, ...(await encrypted())],
    });
    // A command that is sent to a killed server before its connection is seen to close must fail, so that the caller asks another server.
    const redis = new Redis(server.url, { retryStrategy: () => 100, maxRetriesPerRequest: 0 });
    redis.on('error', () => undefined);
    await redis.cluster('SET-CONFIG-EPOCH', epoch);
    return Object.assign(server, { redis, id: await redis.cluster('MYID') });
  };
  const servers: ClusterServer[] = [];
  for (let n = 0; n < (withReplicas ? 6 : 3); n += 1)
    servers.push(await withClock(n < 3 ? 0 : replicasBehindS, () => launch(n + 1)));
  const [masters, replicas] = [servers.slice(0, 3), servers.slice(3)];
  const [first] = masters as [ClusterServer];

  for (const [n, { redis }] of masters.entries()) {
    const [from, to] = [Math.floor((SLOTS * n) / 3), Math.floor((SLOTS * (n + 1)) / 3) - 1];
    await redis.cluster('ADDSLOTSRANGE', from, to);
  }
  const busOf = async ({ redis }: ClusterServer): Promise<string> =>
    (await redis.config('GET', 'cluster-port'))[1] ?? '';
  for (const server of servers)
    if (server !== first) await first.redis.cluster('MEET', '127.0.0.1', server.port, await busOf(server));
  const everyone = async (): Promise<void> => {
    for (const { redis } of servers) {
      const known = ((await redis.cluster('NODES')) as string).trim().split('\n');
      if (known.length !== servers.length || known.some((line) => line.includes('handshake')))
        throw new Error('joining');
    }
  };
  await eventually(everyone);
  for (const [n, { redis }] of replicas.entries()) await redis.cluster('REPLICATE', masters[n]?.id ?? '');
  const isUp = async (): Promise<void> => {
    for (const { redis } of servers)
      if (!(await redis.cluster('INFO')).includes('cluster_state:ok')) throw new Error('not up');
    for (const { redis } of replicas)
      if (!(await redis.info('replication')).includes('master_link_status:up')) throw new Error('not in sync');
  };
  await eventually(isUp);

  const nodes = servers.map(({ port }, n) => `127.0.0.1:${tlsPorts[n] ?? port}`);
  return {
    url: `${tls ? 'rediss' : 'redis'}+cluster://:${PASSWORD}@${nodes.join(',')}`,
    nodes,
    masters,
    replicas,
    async ownerOf(key) {
      // Of those that still run.
      const { redis } = servers.find((one) => one.redis.status === 'ready') ?? first;
      const slot = await redis.cluster('KEYSLOT', key);
      const ranges = await redis.cluster('SLOTS');
      const port = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2]?.[1];
      const owner = servers.find((one) => one.port === port);
      if (owner === undefined) throw new Error(`No server has slot ${slot}.`);
      return owner;
    },
    async close() {
      for (const { redis } of servers) redis.disconnect();
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}
