/** What shortcuts keep in Redis besides the records and events that they commit (commit.ts). */
import type { ListName } from '../crm/lists/lists.js';
import { learnedSchema, type Learned } from '../sweep/shortcuts/store.js';
import type { SweepStore } from '../sweep/store.js';
import { committed } from './commit.js';
import type { WorkspaceRedis } from './keys.js';
import { readMembersOf } from './membership.js';
import { loadScript } from './scripts.js';
import { readJson } from './stored.js';

const LEARNED = 'learned';
const beginWalk = loadScript('begin-walk');

type OfShortcuts = Pick<SweepStore, 'membersOf' | 'created' | 'beginWalk' | 'learned' | 'saveLearned'>;

export function shortcutStore(scope: WorkspaceRedis): OfShortcuts {
  const { redis, keys, workspace } = scope;
  return {
    membersOf: (list, pages) => readMembersOf(scope, list, pages),
    async created(list) {
      const [ids, rows] = await Promise.all([
        redis.smembers(keys.created(workspace, list)),
        redis.hget(keys.sweep(workspace, list), 'createdRows'),
      ]);
      return { ids: new Set(ids), count: ids.length + Number(rows ?? 0) };
    },
    async beginWalk(list, token) {
      const touched = [keys.lease, keys.created, keys.unconfirmed, keys.sweep].map((key) => key(workspace, list));
      return committed(beginWalk, await beginWalk.run(redis, touched, [token]));
    },
    learned: (list) => readLearned(scope, list),
    async saveLearned(list, learned) {
      await redis.hset(keys.sweep(workspace, list), LEARNED, JSON.stringify(learned));
    },
  };
}

export async function readLearned({ redis, keys, workspace }: WorkspaceRedis, list: ListName): Promise<Learned | null> {
  const key = keys.sweep(workspace, list);
  const json = await redis.hget(key, LEARNED);
  if (json === null) return null;
  const remedy = `HDEL ${key} ${LEARNED} removes it; the list's shortcuts then learn from the beginning.`;
  return readJson(learnedSchema, json, { key, field: LEARNED, what: 'what shortcuts have learned', remedy });
}
