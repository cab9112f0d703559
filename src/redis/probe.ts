/** Checks whether the Redis at a URL can be used. Messages never contain the password. */
import { ChangefeedError, messageOf } from '../kit/errors.js';
import { withinTime } from '../kit/clock.js';
import type { RedisAddress } from '../kit/schema/redis-url.js';
import { parseRedisUrl, Server, serverArguments, type Options, type OwnOptions } from './client.js';
import { unlessForbidden } from './conditions.js';
import { classifyRedisError } from './errors.js';

const REFUSALS =
  /WRONGPASS|NOAUTH|NOPERM|invalid password|invalid username|without any password|DB index|SELECT is not/i;
const ABSENCES = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ECONNRESET|Connection is closed/;

interface ProbeOptions {
  own?: OwnOptions | undefined;
  /** The time to wait, including the time in which Redis loads its data; ms. @defaultValue 10000 */
  timeoutMs?: number;
  /** A server that accepts us without checking the password is refused. @defaultValue false */
  mustKnowPassword?: boolean;
  signal?: AbortSignal | undefined;
}

/** In a cluster, from one node of the URL and all masters it names. Null: usable. @throws the signal's reason */
export async function probeRedis(url: string, options: ProbeOptions = {}): Promise<Error | null> {
  const address = parseRedisUrl(url, options.own);
  if (address.kind !== 'cluster') return await probeServer(address, options);
  const named: Named = new Map();
  const problems = await Promise.all(address.urls.map((node) => probeServer(address, options, { node, named })));
  if (!problems.includes(null)) return problems[0] ?? null;
  // Clients connect to the addresses that the cluster itself names.
  const others = [...named].filter(([place]) => !address.place.split(', ').includes(place));
  for (const [place, node] of others) {
    const problem = await probeServer(address, options, { node });
    if (problem !== null) return new Error(`${NAMED}${place} (${messageOf(problem)})`, { cause: problem });
  }
  return null;
}

/** `host:port` and URL of servers of a cluster. */
type Named = Map<string, string>;

async function probeServer(
  address: ReturnType<typeof parseRedisUrl>,
  { timeoutMs = 10_000, mustKnowPassword = false, signal }: ProbeOptions,
  { node, named }: { node?: string; named?: Named } = {},
): Promise<Error | null> {
  const { kind, database, password } = address;
  // The probe selects the database itself: ioredis would hide a refusal.
  const limits: Options = { db: 0, connectTimeout: timeoutMs, maxLoadingRetryTime: timeoutMs };
  const once: Options = { lazyConnect: true, retryStrategy: () => null };
  const redis = new Server(...serverArguments(address, { ...limits, ...once }, node));
  let problem: Error | undefined;
  redis.on('error', (error: Error) => (problem = error));
  const greet = async (): Promise<null> => {
    await redis.connect();
    // ioredis ignores the error of a server without a password; an explicit AUTH reports it.
    if (mustKnowPassword && password !== undefined) await redis.auth(password);
    if (database !== 0) await redis.select(database);
    await redis.ping().catch(unlessItCannotSave);
    await checkKind(redis, kind);
    if (node !== undefined && named !== undefined) await readMasters(redis, { node, named });
    return null;
  };
  try {
    const answer = greet().catch((error: unknown) => problem ?? (error as Error));
    const result = await withinTime(answer, timeoutMs, signal && { signal });
    signal?.throwIfAborted();
    return result === 'late' ? (problem ?? new Error(`no answer in ${timeoutMs} ms`)) : result;
  } finally {
    redis.disconnect();
  }
}

/** It answers reads, and `status` shows the condition. */
function unlessItCannotSave(error: unknown): void {
  if (classifyRedisError(error) !== 'cannot save') throw error;
}

async function readMasters(redis: Server, { node, named }: { node: string; named: Named }): Promise<void> {
  for (const [, , [host, port] = []] of await redis.cluster('SLOTS')) {
    // Null: the one that was asked does not know its own address.
    if (!host) continue;
    const url = new URL(node);
    url.host = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    named.set(`${host}:${port}`, url.href);
  }
}

const NAMED = 'the cluster names its server ';
const A_CLUSTER = 'it is a Redis Cluster';
const NO_CLUSTER = 'it is no Redis Cluster';

async function checkKind(redis: Server, kind: RedisAddress['kind']): Promise<void> {
  const info = await unlessForbidden(redis.info('cluster'));
  const isCluster = info === null ? kind === 'cluster' : /^cluster_enabled:1/m.test(info);
  if (isCluster !== (kind === 'cluster')) throw new Error(isCluster ? A_CLUSTER : NO_CLUSTER);
  if (!isCluster) return;
  const state = await redis.cluster('INFO');
  if (/^cluster_state:ok/m.test(state)) return;
  const served = /^cluster_slots_ok:(\d+)/m.exec(state)?.[1] ?? '0';
  throw new Error(`${served} of the 16384 slots of the cluster are served`);
}

/** @throws ChangefeedError CF_REDIS_UNREACHABLE; CF_CONFIG_INVALID for a bad URL; the signal's reason */
export async function checkRedis(url: string, options: ProbeOptions = {}): Promise<void> {
  const cause = await probeRedis(url, options);
  if (cause === null) return;
  throw new ChangefeedError('CF_REDIS_UNREACHABLE', { message: complaint(parseRedisUrl(url), cause), cause });
}

function complaint({ place, nodes, password, database }: RedisAddress, cause: Error): string {
  const where = 'in REDIS_URL (or "redis" in the configuration)';
  const reason = messageOf(cause);
  const text = `${reason} ${'code' in cause ? String(cause.code) : ''}`;
  const several = place.replaceAll(' ', '');
  if (reason === A_CLUSTER)
    return `Redis at ${place} is a Redis Cluster. Write redis+cluster://${several} ${where}, or set redis: { cluster: ['${nodes.map(({ host, port }) => `${host}:${port}`).join("', '")}'] }.`;
  if (reason.startsWith(NAMED))
    return `Redis at ${place} cannot be used: ${reason}, and there it cannot be reached from here. Set cluster-announce-ip and cluster-announce-port on that server, and tls-cluster where connections are encrypted.`;
  if (reason === NO_CLUSTER)
    return `Redis at ${place} is one server and no Redis Cluster. Write redis://${several} ${where}.`;
  if (/DB index|SELECT is not/i.test(text))
    return `Redis at ${place} has no database ${database}. Use another database ${where}.`;
  if (/NOAUTH/.test(text))
    return `Redis at ${place} asks for a password. Put it ${where}: redis://:password@${place}/0.`;
  if (REFUSALS.test(text))
    return `Redis at ${place} refused ${password !== undefined ? 'the user or password' : 'the connection'} (${reason}). Correct it ${where}.`;
  if (ABSENCES.test(text))
    return `Redis at ${place} cannot be reached (${reason}). Start it, or correct the address ${where}.`;
  return `Redis at ${place} gives no usable answer (${reason}). Check that server, or correct the address ${where}.`;
}
