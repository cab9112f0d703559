/** Which records are on which page, and which are missing. Removals are decided from this. */
import type { ListName } from '../crm/lists/lists.js';
import type { Held } from '../detect/held.js';
import { missingSchema, UNCONFIRMED, type Missing } from '../detect/removal.js';
import type { Membership } from '../sweep/store.js';
import { readSummary } from './checkpoint.js';
import type { WorkspaceRedis } from './keys.js';
import { keyBytes, keyFrom } from './record-key.js';
import { readJson, unreadable, type StoredAt } from './stored.js';

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
  return packed.map((bytes, index) => (bytes === null ? null : unpackKeys(bytes, membersAt(hash, pages[index] ?? 0))));
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
  const ids = await redis.smembers(keys.unconfirmed(workspace, list));
  return ids.length === 0 ? null : ids.sort();
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
      if (packed !== null && packed !== undefined) yield [page, unpackKeys(packed, membersAt(hash, page))];
    }
  }
}

async function readMissing({ redis, keys, workspace }: WorkspaceRedis, list: ListName): Promise<Map<string, Missing>> {
  const hash = keys.missing(workspace, list);
  const entries = Object.entries(await redis.hgetall(hash));
  return new Map(
    entries.map(([key, json]) => {
      const remedy = `HDEL ${hash} "${key}" removes it; the record then counts as not missing.`;
      return [
        key,
        readJson(missingSchema, json, { key: hash, field: key, what: 'since when a record is missing', remedy }),
      ];
    }),
  );
}

function membersAt(key: string, page: number): StoredAt {
  const remedy =
    `Restore Redis from a backup, or remove the page (HDEL ${key} ${page}); removals of records that stood only on this ` +
    'page are then not noticed. If another release wrote it, run that release or set another redis.prefix.';
  return { key, field: String(page), what: 'the members of a page', remedy };
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

// Packed record keys: a version byte; then for each key how it is written, and its bytes. Keys are sorted, so neighbours of one kind
// often begin with the same bytes (ids that begin with a time), which are written once.

const VERSION = 2;
/** `UUID + n`: shares n bytes (0 to 15) with the last UUID. */
const UUID = 0;
/** `HEX24 + n`: shares n bytes (0 to 11) with the last 24-digit id. */
const HEX24 = 16;
const HEX24_END = 28;
/** Followed by the length in two bytes. */
const TEXT = 255;
const BYTES = { uuid: 16, hex24: 12 } as const;

/** Sorted, so that the order of records on a page makes no difference. */
export function packKeys(keys: readonly string[]): Buffer {
  const last: Last = { uuid: Buffer.alloc(0), hex24: Buffer.alloc(0) };
  return Buffer.concat([Buffer.of(VERSION), ...[...keys].sort().flatMap((key) => packKey(key, last))]);
}

type Last = Record<keyof typeof BYTES, Buffer>;

function packKey(key: string, last: Last): Buffer[] {
  const { kind, bytes } = keyBytes(key);
  if (kind === 'text') {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    return [Buffer.of(TEXT), length, bytes];
  }
  const shared = sharedBytes(last[kind], bytes);
  last[kind] = bytes;
  return [Buffer.of((kind === 'uuid' ? UUID : HEX24) + shared), bytes.subarray(shared)];
}

/** Never all of them, also where a key occurs twice. */
function sharedBytes(one: Buffer, other: Buffer): number {
  let shared = 0;
  while (shared < one.length - 1 && one[shared] === other[shared]) shared += 1;
  return shared;
}

/** @throws ChangefeedError CF_STATE_UNREADABLE for anything that `packKeys` does not write */
export function unpackKeys(packed: Buffer, at: StoredAt): string[] {
  if (packed[0] !== VERSION) throw unreadable(at, `${packed.length} bytes without format version ${VERSION}`);
  const last: Last = { uuid: Buffer.alloc(0), hex24: Buffer.alloc(0) };
  const keys: string[] = [];
  for (let from = 1; from < packed.length;) {
    const tag = packed[from] ?? TEXT;
    const kind = tag < HEX24 ? 'uuid' : tag < HEX24_END ? 'hex24' : 'text';
    const shared = kind === 'text' ? 0 : tag - (kind === 'uuid' ? UUID : HEX24);
    const start = kind === 'text' ? from + 3 : from + 1;
    const end = start + (kind === 'text' ? lengthOf(packed, from) : BYTES[kind] - shared);
    const isWhole = end <= packed.length && (kind === 'text' || shared <= last[kind].length);
    if (!isWhole) throw unreadable(at, `${packed.length} bytes that end in the middle of an id`);
    const rest = packed.subarray(start, end);
    const bytes = kind === 'text' ? rest : Buffer.concat([last[kind].subarray(0, shared), rest]);
    if (kind !== 'text') last[kind] = bytes;
    keys.push(keyFrom({ kind, bytes }));
    from = end;
  }
  return keys;
}

/** NaN for a tag that does not exist, or a length that is cut off. */
function lengthOf(packed: Buffer, from: number): number {
  return packed[from] === TEXT && from + 3 <= packed.length ? packed.readUInt16BE(from + 1) : NaN;
}
