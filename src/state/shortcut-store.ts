/** What shortcuts keep in Redis besides the records and events that they commit (commit.ts). */
import type { ListName } from '../crm/lists/lists.js';
import { learnedSchema, type Learned } from '../sweep/shortcuts/store.js';
import type { CreatedRecords } from '../sweep/store.js';
import type { WorkspaceRedis } from './keys.js';
import { readJson } from './stored.js';

export const LEARNED = 'learned';

export function shortcutStore(scope: WorkspaceRedis) {
  const { redis, keys, workspace } = scope;
  return {
    /** What `created` steps have named since the last walk began; the ids only where records are stored. */
    async created(list: ListName): Promise<CreatedRecords> {
      const [ids, rows] = await Promise.all([
        redis.smembers(keys.created(workspace, list)),
        redis.hget(keys.sweep(workspace, list), 'createdRows'),
      ]);
      return { ids: new Set(ids), count: ids.length + Number(rows ?? 0) };
    },
    /** What shortcuts have learned; null where nothing is stored. */
    learned: async (list: ListName) => learnedIn(scope, list, await redis.hget(keys.sweep(workspace, list), LEARNED)),
    async saveLearned(list: ListName, learned: Learned): Promise<void> {
      await redis.hset(keys.sweep(workspace, list), LEARNED, JSON.stringify(learned));
    },
  };
}

export function learnedIn({ keys, workspace }: WorkspaceRedis, list: ListName, json: string | null): Learned | null {
  const at = { what: 'what shortcuts have learned', key: keys.sweep(workspace, list), field: LEARNED } as const;
  return json === null ? null : readJson(learnedSchema, json, at);
}
