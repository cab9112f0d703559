/** What the facts that Redis reports about itself mean for Changefeed. Pure. */
import type { RedisFacts } from '../../redis/facts.js';
import { printable } from '../../kit/printable.js';
import { clockFinding, error, ok, skipped, warning, type Finding } from './finding.js';

type Facts = RedisFacts & { allowEviction: boolean };

/** BullMQ needs 6.2; we test with 7. */
const LEAST_VERSION = 6.2;
const TESTED_VERSION = 7;
const FULL = 0.9;

export function judgeRedis(facts: Facts): Finding[] {
  const { info, refusal, clockApartMs } = facts;
  const clock = clockFinding('Redis: clock', clockApartMs, 'that of Redis');
  const todo = 'Give this user the rights that docs/redis.md lists.';
  const rights = refusal === null ? [] : [error('Redis: rights', `no sweep can run: ${printable(refusal)}`, todo)];
  if (info === null)
    return [...rights, skipped('Redis: version, memory', 'this user may not run INFO'), eviction(facts), clock];
  const value = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  return [...rights, version(value), role(value), eviction(facts), persistence(value, facts), memory(value), clock];
}

type Value = (name: string) => string | undefined;

function version(value: Value): Finding {
  const check = 'Redis: version';
  const valkey = value('valkey_version');
  const shown =
    valkey === undefined ? `Redis ${value('redis_version') ?? 'of an unknown version'}` : `Valkey ${valkey}`;
  const number = Number.parseFloat(value('redis_version') ?? '');
  if (number < LEAST_VERSION) return error(check, shown, 'Use Redis 7 or newer, or Valkey: BullMQ needs at least 6.2.');
  if (number < TESTED_VERSION)
    return warning(check, shown, 'Use Redis 7 or newer, or Valkey: older ones are not tested.');
  return ok(check, shown);
}

function role(value: Value): Finding {
  const check = 'Redis: writes';
  if (value('role') !== 'slave') return ok(check, 'accepted');
  return error(check, 'this server is a replica and accepts no writes', 'Set redis.url to the primary.');
}

function eviction({ evictionPolicy: policy, allowEviction }: Facts): Finding {
  const check = 'Redis: eviction';
  if (policy === null) return skipped(check, 'reading maxmemory-policy is not permitted; it must be noeviction');
  if (policy === 'noeviction') return ok(check, 'maxmemory-policy noeviction');
  const todo = 'CONFIG SET maxmemory-policy noeviction, and the same in redis.conf.';
  const seen = `maxmemory-policy ${policy}: a full Redis drops state, which loses records and invents events`;
  return allowEviction ? warning(check, `${seen}; redis.allowEviction accepts this`, todo) : error(check, seen, todo);
}

function persistence(value: Value, { snapshots }: Facts): Finding {
  const check = 'Redis: persistence';
  if (value('aof_enabled') === '1') return ok(check, 'append-only file');
  const todo = 'CONFIG SET appendonly yes, and the same in redis.conf. Run Redis with a disk that outlives it.';
  if (snapshots === null) return warning(check, 'no append-only file', todo);
  if (snapshots === '') return warning(check, 'nothing is kept on disk: a restart of Redis loses the state', todo);
  return warning(check, 'snapshots only: a crash of Redis loses what changed since the last one', todo);
}

function memory(value: Value): Finding {
  const check = 'Redis: memory';
  const [used, most] = [Number(value('used_memory')), Number(value('maxmemory'))];
  const shown = `${megabytes(used)} used`;
  if (!(most > 0)) return ok(check, `${shown}, no maxmemory`);
  const share = `${shown} of ${megabytes(most)}`;
  if (used < FULL * most) return ok(check, share);
  return warning(check, share, 'Raise maxmemory before it is full: a full Redis stops polling and delivery.');
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}
