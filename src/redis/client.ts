/** The client of one Redis server, which Sentinel may choose, or of a Redis Cluster. */
import { Cluster, Command, Redis as Server, type RedisOptions } from 'ioredis';
import { ChangefeedError, describe } from '../kit/errors.js';
import { A_REDIS_URL } from '../kit/schema/addresses.js';
import { readRedisUrl, type RedisAddress } from '../kit/schema/redis-url.js';

export type Redis = Server | Cluster;
export { Cluster, Server };

/** The options of ioredis, less the one that would change the types of the replies. */
export type Options = Omit<RedisOptions, 'replyMapping'>;

export type ClusterOptions = NonNullable<ConstructorParameters<typeof Cluster<'legacy'>>[1]>;

/** What the configuration adds to an address. What decides about retries and waits is ours. */
export type OwnOptions = {
  [Name in 'username' | 'password' | 'tls' | 'family' | 'connectTimeout' | 'sentinelUsername' | 'sentinelPassword']?:
    RedisOptions[Name] | undefined;
};

interface RedisTarget extends RedisAddress {
  own: OwnOptions;
}

const LONGEST_SENTINEL_RETRY_MS = 500;
/** A node that was just promoted may still be named by others as a replica. */
const MOVED_AGAIN_MS = 20;
const SLOTS_WITHIN_MS = 5_000;
const LEAST_REDIRECTION_MS = 50;
/** Tried to find a key of each server. One that has 12 of the 16,384 slots is found with a probability of 95 %. */
const MOST_TAGS = 4_000;

/** @throws ChangefeedError CF_CONFIG_INVALID */
export function parseRedisUrl(url: string, own: OwnOptions = {}): RedisTarget {
  const read = readRedisUrl(url);
  if (typeof read !== 'string') return { ...read, own };
  throw new ChangefeedError('CF_CONFIG_INVALID', {
    message: `The Redis URL (REDIS_URL, or "redis" in the configuration) must be ${A_REDIS_URL}; found ${describe(url)} (${read}).`,
  });
}

/** A client for a short task. The connections of the process are those of connections.ts. */
export function openClient(address: RedisTarget, options: Options): Redis {
  return address.kind === 'cluster'
    ? new Cluster(...clusterArguments(address, options))
    : new Server(...serverArguments(address, options));
}

/** @param url of one of the nodes */
export function serverArguments(
  { kind, nodes, urls: [first = ''], isEncrypted, database: db, master: name, sentinelPassword, own }: RedisTarget,
  options: Options,
  url = first,
): [url: string, options: Options] {
  const given = own as Options;
  if (kind !== 'sentinel') return [url, { db, ...given, ...options }];
  const sentinel: Options = {
    sentinels: [...nodes],
    name,
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(isEncrypted && { sentinelTLS: given.tls ?? {}, enableTLSForSentinelMode: true }),
    // The client would end if there were no wait. The one between connections does not apply, because none was tried yet.
    sentinelRetryStrategy: (tries) =>
      options.retryStrategy?.(tries) === null ? null : Math.min(LONGEST_SENTINEL_RETRY_MS, 50 * tries),
  };
  return [url, { db, ...sentinel, ...given, ...options }];
}

export function clusterArguments(
  { nodes, isEncrypted, username, password, own }: RedisTarget,
  { retryStrategy, lazyConnect, ...options }: Options,
): [nodes: { host: string; port: number }[], options: ClusterOptions] {
  const login = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
  return [
    [...nodes],
    {
      redisOptions: { ...(own as Options), ...login, ...(isEncrypted && { tls: own.tls ?? {} }), ...options },
      ...(lazyConnect !== undefined && { lazyConnect }),
      ...(retryStrategy && { clusterRetryStrategy: (tries) => retryStrategy(tries) ?? null }),
      // The certificate of a node names the host, so it must not be resolved before.
      dnsLookup: (host, found) => found(null, host),
      slotsRefreshTimeout: SLOTS_WITHIN_MS,
      retryDelayOnMoved: MOVED_AGAIN_MS,
      // Until a node is promoted, a command is redirected to the lost one, with a wait each time: end in time.
      maxRedirections: Math.ceil((options.commandTimeout ?? Number.POSITIVE_INFINITY) / LEAST_REDIRECTION_MS),
    },
  ];
}

/** The servers that hold keys: of a Redis Cluster its masters. */
export async function serversOf(redis: Redis): Promise<Server[]> {
  if (!(redis instanceof Cluster)) return [redis];
  // Before it is connected it only knows the nodes of the configuration, which may be replicas.
  if (redis.status !== 'ready') await redis.ping();
  return redis.nodes('master');
}

/** All keys that match. On a Redis Cluster, also those of every other server. May show a key twice. */
export async function* scanKeys(redis: Redis, options: { match: string; count: number }): AsyncGenerator<string[]> {
  for (const server of await serversOf(redis)) yield* server.scanStream(options) as AsyncIterable<string[]>;
}

/** A key for each server that holds keys: this one with a hash tag, by which that server would hold it. */
export async function keysOnEachServer(redis: Redis, key: string): Promise<string[]> {
  if (!(redis instanceof Cluster)) return [key];
  await serversOf(redis);
  const found = new Map<string, string>();
  // Slots that no server has are left out.
  const servers = new Set(redis.slots.flatMap(([node]) => node ?? []));
  for (let n = 0; found.size < servers.size && n < MOST_TAGS; n++) {
    const tagged = `${key}:{${n}}`;
    const node = redis.slots[new Command('get', [tagged]).getSlot()]?.[0];
    if (node !== undefined && !found.has(node)) found.set(node, tagged);
  }
  return [...found.values()];
}
