/** Which records are on which page, and which are missing. Removals are decided from this. */
import { z } from 'zod';
import type { ListName } from '../crm/lists/lists.js';
import type { Held } from '../detect/held.js';
import { UNCONFIRMED, type Missing } from '../detect/removal.js';
import type { Membership } from '../sweep/store.js';
import { readSummary } from './checkpoint.js';
import type { WorkspaceRedis } from './keys.js';
import { keyBytes, keyFrom } from './record-key.js';
import { isTime, readJson, unreadable, type StoredAt } from './stored.js';

const CHUNK = 500;

export async function readMembers(
  { redis, keys, workspace }: WorkspaceRedis,
  list: ListName,
  page: number,
): Promise<string[] | null> {
  const hash = keys.members(workspace, list);
  const packed = await redis.hgetBuffer(hash, membersField(page));
  return packed === null ? null : unpackKeys(packed, membersAt(hash, membersField(page)));
}

/** The members of several pages; null where there is no such page. */
export async function readMembersOf(
  { redis, keys, workspace }: WorkspaceRedis,
  list: ListName,
  pages: readonly number[],
): Promise<(string[] | null)[]> {
  if (pages.length === 0) return [];
  const hash = keys.members(workspace, list);
  const fields = pages.map(membersField);
  const packed = await redis.hmgetBuffer(hash, ...fields);
  return packed.map((bytes, index) =>
    bytes === null ? null : unpackKeys(bytes, membersAt(hash, fields[index] ?? '')),
  );
}

export async function readMembership(scope: WorkspaceRedis, list: ListName): Promise<Membership> {
  const [members, walk] = [scope.keys.members(scope.workspace, list), scope.keys.walk(scope.workspace, list)];
  const [before, changed] = await Promise.all([readFields(scope, members), readFields(scope, walk)]);
  return {
    before: pagesIn(members, before),
    changed: pagesIn(walk, changed),
    missing: missingIn(members, before),
  };
}

export async function readWalkedMembers(scope: WorkspaceRedis, list: ListName): Promise<Map<number, string[]>> {
  const walk = scope.keys.walk(scope.workspace, list);
  return pagesIn(walk, await readFields(scope, walk));
}

/** Without the pages that the sweep under way left as they were. */
export async function readMembershipChange(scope: WorkspaceRedis, list: ListName, pages: number): Promise<Membership> {
  const members = scope.keys.members(scope.workspace, list);
  const changed = await readWalkedMembers(scope, list);
  const isReplaced = (page: number): boolean => page === UNCONFIRMED || page > pages || changed.has(page);
  const before = await readFields(scope, members, (name) => name.startsWith('m ') || isReplaced(pageOf(name)));
  return { before: pagesIn(members, before), changed, missing: missingIn(members, before) };
}

/** The pages that hold any of these records. Reads a list of any size in little memory. */
export async function readPagesHolding(
  scope: WorkspaceRedis,
  list: ListName,
  { keys, except }: { keys: ReadonlySet<string>; except: (page: number) => boolean },
): Promise<Map<number, string[]>> {
  const hash = scope.keys.members(scope.workspace, list);
  const holding = new Map<number, string[]>();
  if (keys.size === 0) return holding;
  const isAsked = (name: string): boolean => name.startsWith('p ') && !except(pageOf(name));
  for await (const [name, packed] of fieldsIn(scope, hash, isAsked)) {
    const held = unpackKeys(packed, membersAt(hash, name)).filter((key) => keys.has(key));
    if (held.length > 0) holding.set(pageOf(name), held);
  }
  return holding;
}

async function readFields(
  scope: WorkspaceRedis,
  hash: string,
  isWanted: (name: string) => boolean = () => true,
): Promise<Map<string, Buffer>> {
  const fields = new Map<string, Buffer>();
  const isOurs = (name: string): boolean => /^[pm] /u.test(name) && isWanted(name);
  for await (const [name, value] of fieldsIn(scope, hash, isOurs)) fields.set(name, value);
  return fields;
}

/** In chunks: a list may have thousands of pages. */
async function* fieldsIn(
  { redis }: WorkspaceRedis,
  hash: string,
  isWanted: (name: string) => boolean,
): AsyncGenerator<[name: string, value: Buffer]> {
  const names = (await redis.hkeys(hash)).filter(isWanted);
  for (let at = 0; at < names.length; at += CHUNK) {
    const chunk = names.slice(at, at + CHUNK);
    const values = await redis.hmgetBuffer(hash, ...chunk);
    for (const [index, name] of chunk.entries()) {
      const value = values[index];
      if (value !== null && value !== undefined) yield [name, value];
    }
  }
}

function pageOf(field: string): number {
  return Number(field.slice(2));
}

function pagesIn(hash: string, fields: ReadonlyMap<string, Buffer>): Map<number, string[]> {
  const pages = [...fields].filter(([name]) => name.startsWith('p '));
  return new Map(pages.map(([name, packed]) => [pageOf(name), unpackKeys(packed, membersAt(hash, name))] as const));
}

const missingSchema: z.ZodType<Missing> = z.object({
  sweeps: z.number(),
  since: z.string().refine(isTime),
  sweep: z.string(),
});

function missingIn(hash: string, fields: ReadonlyMap<string, Buffer>): Map<string, Missing> {
  const entries = [...fields].filter(([name]) => name.startsWith('m '));
  return new Map(
    entries.map(([name, json]) => {
      const remedy = `HDEL ${hash} "${name}" removes it; the record then counts as not missing.`;
      const at = { key: hash, field: name, what: 'since when a record is missing', remedy };
      return [name.slice(2), readJson(missingSchema, json.toString('utf8'), at)] as const;
    }),
  );
}

function membersAt(key: string, field: string): StoredAt {
  const remedy =
    `Restore Redis from a backup, or remove the page (HDEL ${key} "${field}"); removals of records that stood only on this ` +
    'page are then not noticed. If another release wrote it, run that release or set another redis.prefix.';
  return { key, field, what: 'the members of a page', remedy };
}

/** A page's members as a field of the walk. */
export function memberField(page: number, members: readonly string[]): [field: string, packed: Buffer] {
  return [membersField(page), packKeys(members)];
}

export function membersField(page: number): string {
  return `p ${page}`;
}

/** Of a record that a shortcut created. */
export function createdField(key: string): string {
  return `u ${key}`;
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
