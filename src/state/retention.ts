/** How long the log is kept. Never shorter than a subscription needs it: the log is the outbox. */
import type { Redis } from 'ioredis';
import type { Keys } from './keys.js';

export interface LogRetention {
  /** Events older than this are dropped; ms. */
  ageMs: number;
  /** More events than this are not kept. */
  events: number;
}

const CHUNK = 1_000;

/** Trims a workspace's log. Returns how many events were dropped. */
export async function trimLog(
  redis: Redis,
  keys: Keys,
  { workspace, retention, nowMs }: { workspace: string; retention: LogRetention; nowMs: number },
): Promise<number> {
  const log = keys.log(workspace);
  const places = Object.values(await redis.hgetall(keys.places(workspace)));
  const keepFrom = places.reduce(olderId, `${nowMs}-0`);
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

/** Of two stream ids, the one that stands earlier in the log. */
function olderId(a: string, b: string): string {
  const [aMs, aSeq] = parts(a);
  const [bMs, bSeq] = parts(b);
  return aMs < bMs || (aMs === bMs && aSeq <= bSeq) ? a : b;
}

function parts(id: string): [ms: number, seq: number] {
  const [ms = '0', seq = '0'] = id.split('-');
  return [Number(ms), Number(seq)];
}
