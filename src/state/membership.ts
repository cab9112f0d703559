/** Which records stood on which page, and which are missing since: what removals are decided from. */
import type { ListName } from '../events/lists.js';
import { STRAYS, type Missing } from '../detect/removal.js';
import type { Membership } from '../sweep/store.js';
import { packKeys, unpackKeys } from './packed-keys.js';
import type { StoreRoom } from './room.js';
import { readSummary } from './sweep-memory.js';

const CHUNK = 500;

export async function readMembers(
  { redis, keys, workspace }: StoreRoom,
  list: ListName,
  page: number,
): Promise<string[] | null> {
  const packed = await redis.hgetBuffer(keys.members(workspace, list), `p ${page}`);
  return packed === null ? null : unpackKeys(packed);
}

/** In chunks: a list may have thousands of pages. */
export async function readMembership(room: StoreRoom, list: ListName): Promise<Membership> {
  const { keys, workspace } = room;
  const [before, changed] = await Promise.all([
    fieldsOf(room, keys.members(workspace, list)),
    fieldsOf(room, keys.walk(workspace, list)),
  ]);
  return { before: pagesOf(before), changed: pagesOf(changed), missing: missingOf(before) };
}

async function fieldsOf({ redis }: StoreRoom, key: string): Promise<Map<string, Buffer>> {
  const names = (await redis.hkeys(key)).filter((name) => /^[pm] /u.test(name));
  const fields = new Map<string, Buffer>();
  for (let at = 0; at < names.length; at += CHUNK) {
    const chunk = names.slice(at, at + CHUNK);
    const values = await redis.hmgetBuffer(key, ...chunk);
    chunk.forEach((name, index) => {
      const value = values[index];
      if (value !== null && value !== undefined) fields.set(name, value);
    });
  }
  return fields;
}

function pagesOf(fields: ReadonlyMap<string, Buffer>): Map<number, string[]> {
  const pages = [...fields].filter(([name]) => name.startsWith('p '));
  return new Map(pages.map(([name, packed]) => [Number(name.slice(2)), unpackKeys(packed)]));
}

function missingOf(fields: ReadonlyMap<string, Buffer>): Map<string, Missing> {
  const entries = [...fields].filter(([name]) => name.startsWith('m '));
  return new Map(entries.map(([name, json]) => [name.slice(2), JSON.parse(json.toString('utf8')) as Missing]));
}

/** A page's members as a field of the walk. */
export function memberField(page: number, members: readonly string[]): [field: string, packed: Buffer] {
  return [membersField(page), packKeys(members)];
}

export function membersField(page: number): string {
  return `p ${page}`;
}

/** Whom walks given up have shown, and the last complete sweep had not. */
export function strays({ before, changed }: Pick<Membership, 'before' | 'changed'>): string[] {
  const seen = new Set([...(before.get(STRAYS) ?? []), ...[...changed.values()].flat()]);
  for (const [page, keys] of before) if (page !== STRAYS) for (const key of keys) seen.delete(key);
  return [...seen];
}

export async function acceptRemovals({ redis, keys, workspace }: StoreRoom, list: ListName): Promise<number> {
  const json = await redis.hget(keys.sweep(workspace, list), 'lastSweep');
  const held = readSummary(json)?.heldRemovals;
  if (held === undefined) return 0;
  await redis.hset(keys.sweep(workspace, list), 'removalsAcceptedAt', held.at);
  return held.count;
}

export async function acceptCreations({ redis, keys, workspace }: StoreRoom, list: ListName): Promise<number> {
  const json = await redis.hget(keys.sweep(workspace, list), 'lastSweep');
  const held = readSummary(json)?.heldCreations;
  if (held === undefined) return 0;
  await redis.hset(keys.sweep(workspace, list), 'creationsAcceptedAt', held.at);
  return held.count;
}
