/** What the facts that Redis reports about itself mean for Changefeed. Pure. */
import type { RedisFacts } from '../../redis/facts.js';
import { printable } from '../../kit/printable.js';
import { clockFinding, error, ok, skipped, warning, type Finding, type Text } from './finding.js';

type Facts = RedisFacts & { allowEviction: boolean };

/** BullMQ needs 6.2; we test with 7. */
const LEAST_VERSION = 6.2;
const TESTED_VERSION = 7;
const FULL = 0.9;

export function judgeRedis(facts: Facts, t: Text): Finding[] {
  const { info, refusal, clockApartMs } = facts;
  const clock = clockFinding(t('doctor.redis.clock'), clockApartMs, 'doctor.whose.redis', t);
  const noSweep = (refused: string): string => t('doctor.redis.noSweep', { refusal: printable(refused) });
  const rights =
    refusal === null ? [] : [error(t('doctor.redis.rights'), noSweep(refusal), t('doctor.redis.rightsTodo'))];
  const policy = eviction(facts, t);
  if (info === null) return [...rights, skipped(t('doctor.redis.info'), t('doctor.redis.noInfo')), policy, clock];
  const value = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  return [...rights, version(value, t), role(value, t), policy, persistence(value, facts, t), memory(value, t), clock];
}

type Value = (name: string) => string | undefined;

function version(value: Value, t: Text): Finding {
  const check = t('doctor.redis.version');
  const valkey = value('valkey_version');
  const shown =
    valkey === undefined ? `Redis ${value('redis_version') ?? t('doctor.redis.unknown')}` : `Valkey ${valkey}`;
  const number = Number.parseFloat(value('redis_version') ?? '');
  if (number < LEAST_VERSION) return error(check, shown, t('doctor.redis.tooOld'));
  if (number < TESTED_VERSION) return warning(check, shown, t('doctor.redis.old'));
  return ok(check, shown);
}

function role(value: Value, t: Text): Finding {
  const check = t('doctor.redis.writes');
  if (value('role') !== 'slave') return ok(check, t('doctor.redis.accepted'));
  return error(check, t('doctor.redis.replica'), t('doctor.redis.replicaTodo'));
}

function eviction({ evictionPolicy: policy, allowEviction }: Facts, t: Text): Finding {
  const check = t('doctor.redis.eviction');
  if (policy === null) return skipped(check, t('doctor.redis.evictionUnknown'));
  if (policy === 'noeviction') return ok(check, 'maxmemory-policy noeviction');
  const todo = t('doctor.redis.evictionTodo');
  const seen = t('doctor.redis.evicts', { policy });
  return allowEviction ? warning(check, seen + t('doctor.redis.allowed'), todo) : error(check, seen, todo);
}

function persistence(value: Value, { snapshots }: Facts, t: Text): Finding {
  const check = t('doctor.redis.persistence');
  if (value('aof_enabled') === '1') return ok(check, t('doctor.redis.appendOnly'));
  const todo = t('doctor.redis.persistenceTodo');
  if (snapshots === null) return warning(check, t('doctor.redis.noAppendOnly'), todo);
  return warning(check, t(snapshots === '' ? 'doctor.redis.nothingKept' : 'doctor.redis.snapshots'), todo);
}

function memory(value: Value, t: Text): Finding {
  const check = t('doctor.redis.memory');
  const [bytes, limit] = [Number(value('used_memory')), Number(value('maxmemory'))];
  const used = megabytes(bytes);
  if (!(limit > 0)) return ok(check, t('doctor.redis.unlimited', { used }));
  const share = t('doctor.redis.limited', { used, most: megabytes(limit) });
  if (bytes < FULL * limit) return ok(check, share);
  return warning(check, share, t('doctor.redis.memoryTodo'));
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}
