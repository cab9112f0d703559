/**
 * What shortcuts keep in Redis besides the records and events that they commit (commit.ts). A record that a shortcut created is marked in
 * the members of the last complete sweep (`u <key>`) until the next walk begins.
 */
import { z } from 'zod';
import type { ListName } from '../crm/lists/lists.js';
import { UNCONFIRMED } from '../detect/removal.js';
import type { CommitResult, FencingToken } from '../sweep/store.js';
import type { Learned, ShortcutStore } from '../sweep/shortcuts/store.js';
import { commitChanges, MEMBERS, type FieldChange } from './commit.js';
import type { WorkspaceRedis } from './keys.js';
import { createdField, memberField, readMembers, readMembersOf } from './membership.js';
import { readJson } from './stored.js';

const LEARNED = 'learned';
/** Changes of fields by one script. More would block Redis for too long. */
const CHANGES_PER_STEP = 1_000;

export function createShortcutStore(scope: WorkspaceRedis): ShortcutStore {
  return {
    membersOf: (list, pages) => readMembersOf(scope, list, pages),
    createdByShortcuts: (list) => readCreated(scope, list),
    beginWalk: (list, token) => beginWalk(scope, list, token),
    learned: (list) => readLearned(scope, list),
    async saveLearned(list, learned) {
      await scope.redis.hset(scope.keys.sweep(scope.workspace, list), LEARNED, JSON.stringify(learned));
    },
  };
}

async function readCreated({ redis, keys, workspace }: WorkspaceRedis, list: ListName): Promise<string[]> {
  const names = await redis.hkeys(keys.members(workspace, list));
  return names.filter((name) => name.startsWith(createdField(''))).map((name) => name.slice(createdField('').length));
}

/** The ids come first and their marks go last, so that a crash in between repeats ids and loses none. */
async function beginWalk(scope: WorkspaceRedis, list: ListName, token: FencingToken): Promise<CommitResult> {
  const created = await readCreated(scope, list);
  let result: CommitResult = { outcome: 'committed', events: 0 };
  if (created.length === 0) return result;
  const before = (await readMembers(scope, list, UNCONFIRMED)) ?? [];
  const [field, packed] = memberField(UNCONFIRMED, [...new Set([...before, ...created])]);
  const changes: FieldChange[] = [
    [MEMBERS, 'set', field, packed],
    ...created.map((key): FieldChange => [MEMBERS, 'del', createdField(key), '']),
  ];
  for (let at = 0; at < changes.length && result.outcome === 'committed'; at += CHANGES_PER_STEP)
    result = await commitChanges(scope, list, { token, changes: changes.slice(at, at + CHANGES_PER_STEP) });
  return result;
}

const count = z.number().nonnegative();
const uses = z.object({ used: count, useful: count, wrong: count });
const rate = z.object({ found: count, of: count, atMs: z.number() });
const learnedOfList: z.ZodType<Learned> = z.object({
  live: z.boolean(),
  uses: z.object({ last: uses, first: uses, aimed: uses }),
  rates: z.record(z.string(), rate),
});

export async function readLearned({ redis, keys, workspace }: WorkspaceRedis, list: ListName): Promise<Learned | null> {
  const key = keys.sweep(workspace, list);
  const json = await redis.hget(key, LEARNED);
  if (json === null) return null;
  const remedy = `HDEL ${key} ${LEARNED} removes it; the list's shortcuts then learn from the beginning.`;
  return readJson(learnedOfList, json, { key, field: LEARNED, what: 'what shortcuts have learned', remedy });
}
