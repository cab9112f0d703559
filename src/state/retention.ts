/**
 * How long the log is kept. Never shorter than a subscription needs it: the log is the outbox. But for those that are
 * disabled: for them it is kept as long as the retention says.
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

const CHUNK = 1_000;

export interface Trim {
  workspace: string;
  retention: LogRetention;
  nowMs: number;
  /** Subscriptions that hold nothing back: one that nobody enables must not fill Redis, which would stop all the others. */
  disabled: readonly string[];
}

export interface Trimmed {
  /** How many events were dropped. */
  events: number;
  /** The disabled subscriptions that had not read some of them. */
  missedBy: string[];
}

/** Trims a workspace's log. */
export async function trimLog(redis: Redis, keys: Keys, trim: Trim): Promise<Trimmed> {
  const { workspace, nowMs, disabled } = trim;
  const log = keys.log(workspace);
  const places = Object.entries(await redis.hgetall(keys.places(workspace)));
  const nextOf = async ([name, place]: [string, string]) => ({ name, next: await firstId(redis, log, `(${place}`) });
  const waiting = await Promise.all(places.filter(([name]) => disabled.includes(name)).map(nextOf));
  const holding = places.filter(([name]) => !disabled.includes(name)).map(([, place]) => place);
  const events = await cut(redis, log, { ...trim, keepFrom: holding.reduce(olderId, `${nowMs}-0`) });
  const first = await firstId(redis, log, '-');
  const missed = waiting.filter(({ next }) => next !== null && (first === null || compareLogIds(next, first) < 0));
  return { events, missedBy: missed.map(({ name }) => name) };
}

async function firstId(redis: Redis, log: string, from: string): Promise<string | null> {
  const [first] = await redis.xrange(log, from, '+', 'COUNT', 1);
  return first?.[0] ?? null;
}

/** Drops what is too old and then what is too much, but nothing from `keepFrom` on. */
async function cut(
  redis: Redis,
  log: string,
  { retention, nowMs, keepFrom }: Pick<Trim, 'retention' | 'nowMs'> & { keepFrom: string },
): Promise<number> {
  let dropped = await redis.xtrim(log, 'MINID', olderId(`${Math.max(0, nowMs - retention.ageMs)}-0`, keepFrom));
  for (;;) {
    const excess = (await redis.xlen(log)) - retention.events;
    if (excess <= 0) return dropped;
    const oldest = await redis.xrange(log, '-', '+', 'COUNT', Math.min(excess, CHUNK) + 1);
    const cutAt = oldest.at(-1)?.[0];
    const trimmed = cutAt === undefined ? 0 : await redis.xtrim(log, 'MINID', olderId(cutAt, keepFrom));
    if (trimmed === 0) return dropped;
    dropped += trimmed;
  }
}

/** Of two stream ids, the one that stands earlier in the log. */
function olderId(a: string, b: string): string {
  return compareLogIds(b, a) < 0 ? b : a;
}
