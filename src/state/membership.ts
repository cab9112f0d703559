/** Which records are on which page, and which are missing. Removals are decided from this. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import type { ListName } from '../crm/lists/lists.js';
import type { Held } from '../detect/held.js';
import { missingSchema, UNCONFIRMED, type Missing } from '../detect/removal.js';
import type { Membership } from '../sweep/store.js';
import { readSummary } from './checkpoint.js';
import type { WorkspaceRedis } from './keys.js';
import { readJson, unreadable } from './stored.js';

const CHUNK = 500;

/** Null where there is no such page. */
export async function readMembers(scope: WorkspaceRedis, list: ListName, page: number): Promise<string[] | null> {
  if (page === UNCONFIRMED) return await readUnconfirmed(scope, list);
  const [members = null] = await readMembersOf(scope, list, [page]);
  return members;
}

/** The members of several pages; null where there is no such page. */
export async function readMembersOf(
  { redis, keys, workspace }: WorkspaceRedis,
  list: ListName,
  pages: readonly number[],
): Promise<(string[] | null)[]> {
  if (pages.length === 0) return [];
  const hash = keys.members(workspace, list);
  const packed = await redis.hmgetBuffer(hash, ...pages.map(String));
  return packed.map((bytes, index) => (bytes === null ? null : unpackKeys(bytes, hash, pages[index] ?? 0)));
}

export async function readMembership(scope: WorkspaceRedis, list: ListName): Promise<Membership> {
  const [before, changed, missing] = await Promise.all([
    readPages(scope, scope.keys.members(scope.workspace, list)),
    readWalkedMembers(scope, list),
    readMissing(scope, list),
  ]);
  return { before: await withUnconfirmed(scope, list, before), changed, missing };
}

export async function readWalkedMembers(scope: WorkspaceRedis, list: ListName): Promise<Map<number, string[]>> {
  return await readPages(scope, scope.keys.walkMembers(scope.workspace, list));
}

/** Without the pages that the sweep under way left as they were. */
export async function readMembershipChange(scope: WorkspaceRedis, list: ListName, pages: number): Promise<Membership> {
  const [changed, missing] = await Promise.all([readWalkedMembers(scope, list), readMissing(scope, list)]);
  const isReplaced = (page: number): boolean => page > pages || changed.has(page);
  const before = await readPages(scope, scope.keys.members(scope.workspace, list), isReplaced);
  return { before: await withUnconfirmed(scope, list, before), changed, missing };
}

/** The pages that hold any of these records. Reads a list of any size in little memory. */
export async function readPagesHolding(
  scope: WorkspaceRedis,
  list: ListName,
  { keys, except }: { keys: ReadonlySet<string>; except: (page: number) => boolean },
): Promise<Map<number, string[]>> {
  const holding = new Map<number, string[]>();
  if (keys.size === 0) return holding;
  for await (const [page, members] of pagesIn(
    scope,
    scope.keys.members(scope.workspace, list),
    (one) => !except(one),
  )) {
    const held = members.filter((key) => keys.has(key));
    if (held.length > 0) holding.set(page, held);
  }
  return holding;
}

async function readUnconfirmed({ redis, keys, workspace }: WorkspaceRedis, list: ListName): Promise<string[] | null> {
  const ids = new Set<string>();
  for await (const found of redis.sscanStream(keys.unconfirmed(workspace, list), { count: CHUNK }))
    for (const id of found as string[]) ids.add(id);
  return ids.size === 0 ? null : [...ids].sort();
}

async function withUnconfirmed(
  scope: WorkspaceRedis,
  list: ListName,
  before: Map<number, string[]>,
): Promise<Map<number, string[]>> {
  const ids = await readUnconfirmed(scope, list);
  return ids === null ? before : before.set(UNCONFIRMED, ids);
}

async function readPages(
  scope: WorkspaceRedis,
  hash: string,
  isWanted: (page: number) => boolean = () => true,
): Promise<Map<number, string[]>> {
  const pages = new Map<number, string[]>();
  for await (const [page, members] of pagesIn(scope, hash, isWanted)) pages.set(page, members);
  return pages;
}

/** In chunks: a list may have thousands of pages. */
async function* pagesIn(
  { redis }: WorkspaceRedis,
  hash: string,
  isWanted: (page: number) => boolean,
): AsyncGenerator<[page: number, members: string[]]> {
  const pages = (await redis.hkeys(hash)).map(Number).filter(isWanted);
  for (let at = 0; at < pages.length; at += CHUNK) {
    const chunk = pages.slice(at, at + CHUNK);
    const values = await redis.hmgetBuffer(hash, ...chunk.map(String));
    for (const [index, page] of chunk.entries()) {
      const packed = values[index];
      if (packed !== null && packed !== undefined) yield [page, unpackKeys(packed, hash, page)];
    }
  }
}

async function readMissing({ redis, keys, workspace }: WorkspaceRedis, list: ListName): Promise<Map<string, Missing>> {
  const hash = keys.missing(workspace, list);
  const missing = new Map<string, Missing>();
  for await (const found of redis.hscanStream(hash, { count: CHUNK })) {
    const flat = found as string[];
    for (let at = 0; at < flat.length; at += 2) {
      const [key = '', json = ''] = [flat[at], flat[at + 1]];
      missing.set(
        key,
        readJson(missingSchema, json, { what: 'since when a record is missing', key: hash, field: key }),
      );
    }
  }
  return missing;
}

/** Ids that only abandoned sweeps have seen. */
export function unconfirmedIds({ before, changed }: Pick<Membership, 'before' | 'changed'>): string[] {
  const seen = new Set([...(before.get(UNCONFIRMED) ?? []), ...[...changed.values()].flat()]);
  for (const [page, keys] of before) if (page !== UNCONFIRMED) for (const key of keys) seen.delete(key);
  return [...seen];
}

/** Accepts what the last complete sweep held back, and returns it. */
export async function acceptHeld(scope: WorkspaceRedis, list: ListName): Promise<readonly Held[]> {
  const sweep = scope.keys.sweep(scope.workspace, list);
  const { held = [] } = readSummary(await scope.redis.hget(sweep, 'lastSweep'), scope, list) ?? {};
  const [last] = held
    .map(({ at }) => at)
    .sort()
    .reverse();
  if (last !== undefined) await scope.redis.hset(sweep, 'acceptedAt', last);
  return held;
}

/** The keys of a page: deflated JSON. Sorted, so that the order of records on the page makes no difference. */
export function packKeys(keys: readonly string[]): Buffer {
  return deflateRawSync(JSON.stringify([...keys].sort()));
}

const keysSchema = z.array(z.string());

/** @throws ChangefeedError CF_STATE_UNREADABLE for anything that `packKeys` does not write */
export function unpackKeys(packed: Buffer, key: string, page: number): string[] {
  const at = { what: 'the members of a page', key, field: String(page) } as const;
  let json: string;
  try {
    json = inflateRawSync(packed).toString('utf8');
  } catch {
    throw unreadable(at, `${packed.length} bytes of another format`);
  }
  return readJson(keysSchema, json, at);
}
