/**
 * How long the log is kept. Never shorter than a subscription needs it: the log is the outbox.
 *
 * Which subscriptions count is told by those who dispatch, each for its own configuration. A place whose subscription this
 * process does not know may be another's, of another configuration, which is perhaps only being restarted. So it is noted as
 * a stray; whoever knows it strikes it off again. What stayed a stray for a week was removed: it holds the log no longer.
 */
import type { Redis } from 'ioredis';
import { compareLogIds } from '../events/log-id.js';
import type { Keys } from './keys.js';

export interface LogRetention {
  /** Events older than this are dropped; ms. */
  ageMs: number;
  /** More events than this are not kept. */
  events: number;
}

export interface TrimOptions {
  workspace: string;
  retention: LogRetention;
  /** The subscriptions that read this log, as far as this process knows. */
  readers: readonly string[];
  nowMs: number;
}

export interface Trimmed {
  /** Events that were dropped. */
  dropped: number;
  /** Subscriptions whose place was given up. Should one come back, it begins as a new one. */
  givenUp: string[];
}

const CHUNK = 1_000;
/** Too long keeps a log that nobody reads; too short loses events of a service that is being mended. */
const STRAY_LIFE_MS = 7 * 86_400_000;

/** Trims a workspace's log. */
export async function trimLog(redis: Redis, keys: Keys, options: TrimOptions): Promise<Trimmed> {
  const { workspace, retention, nowMs } = options;
  const places = await redis.hgetall(keys.places(workspace));
  const givenUp = await settleStrays(redis, keys, { ...options, known: Object.keys(places) });
  const holding = Object.entries(places).filter(([subscription]) => !givenUp.includes(subscription));
  const keepFrom = holding.map(([, place]) => place).reduce(olderId, `${nowMs}-0`);
  return { dropped: await trimTo(redis, keys.log(workspace), { retention, nowMs, keepFrom }), givenUp };
}

/** Notes who is a stray, strikes off who is none, and gives up those who were one for too long. */
async function settleStrays(
  redis: Redis,
  keys: Keys,
  { workspace, readers, known, nowMs, retention }: TrimOptions & { known: readonly string[] },
): Promise<string[]> {
  const strays = await redis.hgetall(keys.strays(workspace));
  const found = known.filter((subscription) => strays[subscription] !== undefined && readers.includes(subscription));
  const lost = known.filter((subscription) => !readers.includes(subscription));
  const isOver = (subscription: string): boolean =>
    nowMs - Number(strays[subscription] ?? nowMs) > Math.max(STRAY_LIFE_MS, retention.ageMs);
  const givenUp = lost.filter(isOver);
  for (const subscription of lost) await redis.hsetnx(keys.strays(workspace), subscription, nowMs);
  if (givenUp.length > 0) await redis.hdel(keys.places(workspace), ...givenUp);
  if (found.length + givenUp.length > 0) await redis.hdel(keys.strays(workspace), ...found, ...givenUp);
  return givenUp;
}

async function trimTo(
  redis: Redis,
  log: string,
  { retention, nowMs, keepFrom }: Pick<TrimOptions, 'retention' | 'nowMs'> & { keepFrom: string },
): Promise<number> {
  let dropped = await redis.xtrim(log, 'MINID', olderId(`${Math.max(0, nowMs - retention.ageMs)}-0`, keepFrom));
  for (;;) {
    const excess = (await redis.xlen(log)) - retention.events;
    if (excess <= 0) return dropped;
    const oldest = await redis.xrange(log, '-', '+', 'COUNT', Math.min(excess, CHUNK) + 1);
    const cut = oldest.at(-1)?.[0];
    const trimmed = cut === undefined ? 0 : await redis.xtrim(log, 'MINID', olderId(cut, keepFrom));
    if (trimmed === 0) return dropped;
    dropped += trimmed;
  }
}

/** Of two places, the one that stands earlier in the log. */
function olderId(a: string, b: string): string {
  return compareLogIds(a, b) <= 0 ? a : b;
}
