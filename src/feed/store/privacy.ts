/** Keeps personal data out: the key of a workspace's keyed digests, and the tombstones of erased records. */
import { randomBytes } from 'node:crypto';
import type { ListName } from '../../crm/lists/lists.js';
import { keyedDigest } from '../detect/masks.js';
import { type WorkspaceRedis, recordField } from '../../redis/keys.js';
import type { SchemaDelta } from '../detect/schema-drift/schema.js';
import { HELD_EXAMPLES } from './sweep-state.js';
import { TIMER_KINDS } from '../detect/watch-todo.js';

const KEY_BYTES = 32;
const TOMBSTONE_LENGTH = 22;

export function privacyStore(scope: WorkspaceRedis) {
  const { redis, keys, workspace } = scope;
  const secret = async (): Promise<string> => {
    const key = keys.secret(workspace);
    await redis.setnx(key, randomBytes(KEY_BYTES).toString('base64url'));
    return (await redis.get(key)) ?? '';
  };
  const tombstoneOf = async (id: string): Promise<string> => keyedDigest(await secret(), id, TOMBSTONE_LENGTH);
  /** Under which of its followed sets a record may stand. */
  const followedOf = async (list: ListName): Promise<string[]> => {
    const fields = await redis.hkeys(keys.unchanged(workspace));
    return fields.flatMap((field) => (field.startsWith(`followed ${list} `) ? [field.slice('followed '.length)] : []));
  };
  /** The subscriptions that say nothing of it (delivery/mutes.ts). */
  const mutedOf = async (list: ListName, id: string): Promise<string[]> =>
    (await redis.zrange(keys.muted(workspace), '0', '-1')).filter((one) => one.endsWith(` ${list} ${id}`));
  return {
    /** It belongs to the state: without it, masked values and tombstones mean nothing. */
    secret,
    tombstoneOf,
    /** Whether a record was erased: its rows are to be left out. */
    async erased(list: ListName): Promise<(id: string) => boolean> {
      const tombstones = new Set(await redis.smembers(keys.erased(workspace, list)));
      if (tombstones.size === 0) return () => false;
      const key = await secret();
      return (id) => tombstones.has(keyedDigest(key, id, TOMBSTONE_LENGTH));
    },
    /**
     * Keeps a record out from now on and drops what is stored of it. The lease ends, so that a sweep that does not know of it writes nothing
     * any more; the next one reads the list from its first page, and its own pages do not name the record.
     * @param more.pages the pages of the last complete sweep that name it @param more.schema its part of the tally, negative
     * @param more.isDiscarded it is counted among the discarded ones
     */
    async erase(
      list: ListName,
      id: string,
      more: { pages: readonly number[]; schema: SchemaDelta; isDiscarded: boolean },
    ): Promise<void> {
      const tombstone = await tombstoneOf(id);
      const of = (key: (workspace: string, list: ListName) => string): string => key(workspace, list);
      const all = redis.multi().sadd(of(keys.erased), tombstone).del(of(keys.lease));
      // `kept`: the list may have had no other record. The examples may name it.
      all
        .hdel(of(keys.sweep), 'checkpoint', 'kept', HELD_EXAMPLES)
        .hdel(of(keys.records), recordField(id))
        .hdel(of(keys.missing), id);
      all.srem(of(keys.created), id).srem(of(keys.unconfirmed), id);
      for (const followed of await followedOf(list)) all.zrem(keys.unchangedSince(workspace, followed), id);
      all.zrem(of(keys.snoozed), id);
      for (const muted of await mutedOf(list, id)) all.zrem(keys.muted(workspace), muted);
      if (list === 'todo') all.zrem(keys.due(workspace), ...TIMER_KINDS.map((kind) => `${kind} ${id}`));
      all.hdel(keys.credits(workspace), `${list} ${id}`).zrem(keys.credited(workspace), `${list} ${id}`);
      if (more.pages.length > 0) all.hdel(of(keys.pages), ...more.pages.map(String));
      if (more.isDiscarded) all.hincrby(of(keys.sweep), 'discarded', -1);
      for (const [name, by] of more.schema) all.hincrby(of(keys.sweep), `schema ${name}`, by);
      for (const [error] of (await all.exec()) ?? []) if (error) throw error;
    },
  };
}
