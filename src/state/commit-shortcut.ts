/** What shortcuts keep in Redis besides the records and events that they commit (commit.ts). */
import { z } from 'zod';
import type { ListName } from '../crm/lists/lists.js';
import type { ShortcutStore } from '../sweep/shortcuts/store.js';
import type { Trust, TrustOfList } from '../sweep/shortcuts/trust.js';
import { committed } from './commit.js';
import type { WorkspaceRedis } from './keys.js';
import { readMembersOf } from './membership.js';
import { loadScript } from './scripts.js';
import { readJson } from './stored.js';

const beginWalk = loadScript('begin-walk');

export function createShortcutStore(scope: WorkspaceRedis): ShortcutStore {
  const { redis, keys, workspace } = scope;
  return {
    membersOf: (list, pages) => readMembersOf(scope, list, pages),
    createdByShortcuts: (list) => redis.smembers(keys.created(workspace, list)),
    async beginWalk(list, token) {
      const touched = [keys.lease, keys.created, keys.unconfirmed].map((key) => key(workspace, list));
      return committed(beginWalk, await beginWalk.run(redis, touched, [token]));
    },
    trust: (list) => readTrust(scope, list),
    async saveTrust(list, trust) {
      await redis.hset(keys.sweep(workspace, list), 'trust', JSON.stringify(trust));
    },
  };
}

const count = z.number().nonnegative();
const trust: z.ZodType<Trust> = z.object({
  used: count,
  useful: count,
  wrong: count,
  recent: z.object({ good: count, wrong: count }),
  demotions: count,
  pausedUntil: count,
});
const trustOfList: z.ZodType<TrustOfList> = z.object({ last: trust, first: trust, aimed: trust });

export async function readTrust(
  { redis, keys, workspace }: WorkspaceRedis,
  list: ListName,
): Promise<TrustOfList | null> {
  const key = keys.sweep(workspace, list);
  const json = await redis.hget(key, 'trust');
  if (json === null) return null;
  const remedy = `HDEL ${key} trust removes it; the list's shortcuts are then tried again from the beginning.`;
  return readJson(trustOfList, json, { key, field: 'trust', what: 'how far shortcuts are trusted', remedy });
}
