/** Redis about itself, for `changefeed doctor`. */
import { messageOf } from '../kit/errors.js';
import type { Clock } from '../kit/clock.js';
import { openClient, parseRedisUrl, serversOf, type OwnOptions, type Redis, type Server } from './client.js';
import { readEvictionPolicy, readSetting, unlessForbidden } from './conditions.js';

export interface RedisFacts {
  /** `host:port` */
  place: string;
  /** The answer to INFO; null where reading it is not permitted. */
  info: string | null;
  /** `maxmemory-policy`; null where reading it is not permitted. */
  evictionPolicy: string | null;
  /** When RDB snapshots are written, as `CONFIG GET save` says; null where reading it is not permitted. */
  snapshots: string | null;
  /** What Redis says to a script that calls INFO; null when it runs. */
  refusal: string | null;
  /** The clock of Redis less ours, ms. */
  clockApartMs: number;
}

/** In a cluster, each server that holds keys. @throws the error of Redis */
export async function readRedisFacts(url: string, clock: Clock, own?: OwnOptions): Promise<RedisFacts[]> {
  const address = parseRedisUrl(url, own);
  const redis = openClient(address, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  // The command that fails reports it.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await Promise.all((await serversOf(redis)).map((server) => factsOf(server, clock)));
  } finally {
    redis.disconnect();
  }
}

/** The clock of Redis less ours, ms. In a cluster, that of any server. */
export async function clockApart(redis: Redis, clock: Clock): Promise<number> {
  const askedAtMs = clock.now();
  const [seconds = 0, micros = 0] = (await redis.time()).map(Number);
  return Math.round(seconds * 1_000 + micros / 1_000 - (askedAtMs + clock.now()) / 2);
}

async function factsOf(server: Server, clock: Clock): Promise<RedisFacts> {
  const info = await unlessForbidden(server.info());
  const evictionPolicy = await readEvictionPolicy(server);
  const snapshots = await readSetting(server, 'save');
  const clockApartMs = await clockApart(server, clock);
  const { host = '', port = '' } = server.options;
  // Scripts of every sweep begin so.
  const refusal = await server.eval("return redis.call('INFO', 'server')", 0).then(() => null, messageOf);
  return { place: `${host}:${port}`, info, refusal, evictionPolicy, snapshots, clockApartMs };
}
