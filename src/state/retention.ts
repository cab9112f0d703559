/**
 * How long the log is kept. Never shorter than a subscription needs it: the log is the outbox. But for those that are
 * disabled: for them it is kept as long as the retention says.
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
  /** Subscriptions that hold nothing back: one that nobody enables must not fill Redis, which would stop all the others. */
  disabled: readonly string[];
}

export interface Trimmed {
  /** Events that were dropped. */
  dropped: number;
  /** Subscriptions whose place was given up. Should one come back, it begins as a new one. */
  givenUp: string[];
  /** The disabled subscriptions that had not read some of what was dropped. */
  missedBy: string[];
}

const CHUNK = 1_000;
/** Too long keeps a log that nobody reads; too short loses events of a service that is being mended. */
const STRAY_LIFE_MS = 7 * 86_400_000;

/** Trims a workspace's log. */
export async function trimLog(redis: Redis, keys: Keys, options: TrimOptions): Promise<Trimmed> {
  const { workspace, retention, nowMs, disabled } = options;
  const log = keys.log(workspace);
  const places = Object.entries(await redis.hgetall(keys.places(workspace)));
  const givenUp = await settleStrays(redis, keys, { ...options, known: places.map(([name]) => name) });
  const standing = places.filter(([name]) => !givenUp.includes(name));
  const nextOf = async ([name, place]: [string, string]) => ({ name, next: await firstId(redis, log, `(${place}`) });
  const waiting = await Promise.all(standing.filter(([name]) => disabled.includes(name)).map(nextOf));
  const holding = standing.filter(([name]) => !disabled.includes(name)).map(([, place]) => place);
  const dropped = await trimTo(redis, log, { retention, nowMs, keepFrom: holding.reduce(olderId, `${nowMs}-0`) });
  const first = await firstId(redis, log, '-');
  const missed = waiting.filter(({ next }) => next !== null && (first === null || compareLogIds(next, first) < 0));
  return { dropped, givenUp, missedBy: missed.map(({ name }) => name) };
}

async function firstId(redis: Redis, log: string, from: string): Promise<string | null> {
  const [first] = await redis.xrange(log, from, '+', 'COUNT', 1);
  return first?.[0] ?? null;
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
