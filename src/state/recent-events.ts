import type { ChangeEvent } from '../events/types.js';
import type { StoreRoom } from './room.js';

const CHUNK = 500;

/** The newest events of a workspace's log back to a time, at most `limit` of them. */
export async function recentEvents(
  { redis, keys, workspace }: StoreRoom,
  sinceMs: number,
  limit: number,
): Promise<ChangeEvent[]> {
  const events: ChangeEvent[] = [];
  for (let end = '+'; events.length < limit;) {
    const count = Math.min(CHUNK, limit - events.length);
    const entries = await redis.xrevrange(keys.log(workspace), end, `${sinceMs}-0`, 'COUNT', count);
    for (const [, [, json = '']] of entries) events.push(JSON.parse(json) as ChangeEvent);
    const oldest = entries.at(-1)?.[0];
    if (oldest === undefined || entries.length < count) break;
    end = `(${oldest}`;
  }
  return events;
}
