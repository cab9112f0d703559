/** The conditions in which Redis answers and cannot be used: it refuses writes, or it may evict keys. */
import { ChangefeedError, messageOf } from '../kit/errors.js';
import type { Clock } from '../kit/clock.js';
import { Episode } from '../kit/episode.js';
import type { Log } from '../kit/log.js';
import { keysOnEachServer, serversOf, type Redis, type Server } from './client.js';
import { classifyRedisError, type RedisErrorKind } from './errors.js';
import { loadScript, words } from './scripts.js';

export interface ConditionOptions {
  /** `host:port`. Never the URL, which contains the password. */
  place: string;
  log: Log;
  clock: Clock;
}

/** A condition is logged once when it begins and once when it ends, with its duration. */
export class Condition {
  readonly #options: ConditionOptions;
  #episode: Episode | undefined;
  #controller = new AbortController();

  constructor(options: ConditionOptions) {
    this.#options = options;
  }

  get error(): ChangefeedError | null {
    return this.signal.aborted ? (this.signal.reason as ChangefeedError) : null;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  holds(error: ChangefeedError, said: { begins: string; ends: string }, facts: object = {}): void {
    if (this.#episode !== undefined) return;
    const { place, log, clock } = this.#options;
    this.#episode = new Episode({ ...said, facts: { redis: place }, log, clock });
    this.#controller.abort(error);
    this.#episode.failed({ code: error.code, ...facts });
  }

  over(): void {
    if (this.#episode === undefined) return;
    this.#controller = new AbortController();
    this.#episode.over();
    this.#episode = undefined;
  }
}

export type Refused = 'out of memory' | 'cannot save' | 'read-only' | 'not permitted';

export interface Refusal {
  kind: Refused;
  /** The one that the user of Redis may not call; null where that is not the reason. */
  command: string | null;
}

function isRefusal(kind: RedisErrorKind): kind is Refused {
  return kind in REFUSED;
}

export const REFUSED = {
  'out of memory': {
    begins: 'Redis is out of memory and refuses writes: polling, dispatching and handling are paused',
    ends: 'Redis has memory again; work goes on',
    error: 'maxmemory is reached. Free memory or raise maxmemory',
  },
  'cannot save': {
    begins: 'Redis cannot save its data and refuses writes: polling, dispatching and handling are paused',
    ends: 'Redis can save its data again; work goes on',
    error: 'it cannot save its data (its log says why). Free disk space, or repair the folder of its data',
  },
  'read-only': {
    begins: 'Redis is a read-only replica and refuses writes: polling, dispatching and handling are paused',
    ends: 'Redis takes writes again; work goes on',
    error: 'it is a read-only replica. Wait for the failover to end, or set REDIS_URL to the primary',
  },
  'not permitted': {
    begins: 'The user of Redis lacks a right: polling, dispatching and handling are paused',
    ends: 'The user of Redis has its rights again; work goes on',
    error: 'its user lacks a right. Give it those that docs/redis.md names under "The rights of a user"',
  },
} as const satisfies Record<Refused, object>;

/** @param place null where the error does not say it */
export function refusedError(place: string | null, { kind, command }: Refusal): ChangefeedError {
  const what = command === null ? 'writes' : `"${command}"`;
  const redis = place === null ? 'Redis' : `Redis at ${place}`;
  return new ChangefeedError('CF_REDIS_REFUSES', {
    message: `${redis} refuses ${what}: ${REFUSED[kind].error}; then work goes on without a restart.`,
  });
}

const probeRights = loadScript('probe-rights', import.meta.url);

/** Those without which nothing flows: of scripts, of the log, of BullMQ. */
const NEEDED =
  'get set del unlink exists hset hget hmget hdel hincrby zadd zrem zrange zscore xadd xrange xdel xtrim rpush lpush lrange lrem sadd srem incrby pexpire'.split(
    ' ',
  );
const SCRIPTS = ['eval', 'evalsha'];

/** What an error of a command says. Null: it is no refusal, or one of a command that not every user of Redis may call. */
export function refusalIn(error: unknown): Refusal | null {
  const kind = classifyRedisError(error);
  if (!isRefusal(kind)) return null;
  if (kind !== 'not permitted') return { kind, command: null };
  const [, command] = /\brun the '(\w+)/u.exec(messageOf(error)) ?? [];
  // Of a command in a script, Redis 7.0 does not say which.
  if (command === undefined) return /script/u.test(messageOf(error)) ? { kind, command: null } : null;
  return [...NEEDED, ...SCRIPTS].includes(command) ? { kind, command } : null;
}

/** An answer of Redis that says in its own words that it cannot be used, as an error of ours. @returns any other error as it is */
export function asRefusal(error: unknown): unknown {
  const refusal = error instanceof ChangefeedError ? null : refusalIn(error);
  return refusal === null ? error : refusedError(null, refusal);
}

/**
 * Null if Redis accepts writes. Writes nothing, but is refused like any write.
 * @param key an absent one
 * @throws the error of Redis if it, or one server of a cluster, is away or loading
 */
export async function readRefusal(redis: Redis, key: string): Promise<Refusal | null> {
  const refused = await Promise.all((await keysOnEachServer(redis, key)).map((one) => refusalOf(redis, one)));
  return refused.find((one) => one !== null) ?? null;
}

async function refusalOf(redis: Redis, key: string): Promise<Refusal | null> {
  try {
    await redis.setrange(key, 0, '');
    const [word, command = null] = words(probeRights, await probeRights.run(redis, [key], NEEDED));
    return word === 'forbidden' ? { kind: 'not permitted', command } : null;
  } catch (error) {
    const refusal = refusalIn(error);
    if (refusal === null && !['other', 'not permitted'].includes(classifyRedisError(error))) throw error;
    return refusal;
  }
}

const SAFE_POLICY = 'noeviction';

/** Others evict keys, also `volatile-*`: leases, the request budget and BullMQ's locks are keys that expire. */
export function evicts(policy: string | null): policy is string {
  return policy !== null && policy !== SAFE_POLICY;
}

/** In a cluster the first that evicts; null if INFO and CONFIG are forbidden. @throws any other error of Redis */
export async function readEvictionPolicy(redis: Redis): Promise<string | null> {
  const policies = await Promise.all((await serversOf(redis)).map(policyOf));
  return policies.find(evicts) ?? policies[0] ?? null;
}

/** INFO first: managed services that forbid CONFIG permit it. */
async function policyOf(server: Server): Promise<string | null> {
  const info = await unlessForbidden(server.info('memory'));
  const shown = /^maxmemory_policy:([\w-]+)/m.exec(info ?? '')?.[1];
  return shown ?? (await readSetting(server, 'maxmemory-policy'));
}

/** As `CONFIG GET` says; null where reading it is not permitted. */
export async function readSetting(server: Server, name: string): Promise<string | null> {
  const answer = await unlessForbidden(server.config('GET', name));
  const value: unknown = Array.isArray(answer) ? answer[1] : undefined;
  return typeof value === 'string' ? value : null;
}

export async function unlessForbidden<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (classifyRedisError(error) !== 'not permitted' && !/unknown command/i.test(messageOf(error))) throw error;
    return null;
  }
}

/** The parts of the state depend on each other, so none may be lost. */
export function evictionError(place: string, policy: string): ChangefeedError {
  return new ChangefeedError('CF_REDIS_EVICTS', {
    found: policy,
    message:
      `Redis at ${place} has maxmemory-policy "${policy}" and may evict keys, which loses records and invents events. ` +
      `Set it to ${SAFE_POLICY}: CONFIG SET maxmemory-policy ${SAFE_POLICY}, and the line "maxmemory-policy ${SAFE_POLICY}" in redis.conf. ` +
      `If state may be lost, allow it in the configuration: redis: { allowEviction: true }.`,
  });
}
