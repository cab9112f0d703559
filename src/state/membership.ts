/** Which records are on which page, and which are missing. Removals are decided from this. */
import { z } from 'zod';
import type { ListName } from '../crm/lists/lists.js';
import { UNCONFIRMED, type Missing } from '../detect/removal.js';
import type { Membership } from '../sweep/store.js';
import { readSummary } from './checkpoint.js';
import type { WorkspaceRedis } from './keys.js';
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

/** Ids that only abandoned sweeps have seen. */
export function unconfirmedIds({ before, changed }: Pick<Membership, 'before' | 'changed'>): string[] {
  const seen = new Set([...(before.get(UNCONFIRMED) ?? []), ...[...changed.values()].flat()]);
  for (const [page, keys] of before) if (page !== UNCONFIRMED) for (const key of keys) seen.delete(key);
  return [...seen];
}

/** Accepts the removals or creations that the last complete sweep held back. Returns how many. */
export async function acceptHeld(
  scope: WorkspaceRedis,
  list: ListName,
  kind: 'removals' | 'creations',
): Promise<number> {
  const sweep = scope.keys.sweep(scope.workspace, list);
  const summary = readSummary(await scope.redis.hget(sweep, 'lastSweep'), scope, list);
  const held = kind === 'removals' ? summary?.heldRemovals : summary?.heldCreations;
  if (held === undefined) return 0;
  await scope.redis.hset(sweep, `${kind}AcceptedAt`, held.at);
  return held.count;
}

// Packed record keys: a version byte; then UUIDs as 16 bytes, 24-digit hexadecimal ids as 12, others as text.

const VERSION = 1;
const UUID = 0;
const HEX24 = 1;
const TEXT = 2;

/** Sorted, so that the order of records on a page makes no difference. */
export function packKeys(keys: readonly string[]): Buffer {
  return Buffer.concat([Buffer.of(VERSION), ...[...keys].sort().map(packKey)]);
}

/** @throws ChangefeedError CF_STATE_UNREADABLE for anything that `packKeys` does not write */
export function unpackKeys(packed: Buffer, at: StoredAt): string[] {
  if (packed[0] !== VERSION) throw unreadable(at, `${packed.length} bytes without format version ${VERSION}`);
  const keys: string[] = [];
  for (let from = 1; from < packed.length;) {
    const kind = packed[from];
    const start = kind === TEXT ? from + 3 : from + 1;
    const end = start + lengthOf(packed, from);
    if (!(end <= packed.length)) throw unreadable(at, `${packed.length} bytes that end in the middle of an id`);
    keys.push(
      kind === UUID
        ? uuidOf(packed.toString('hex', start, end))
        : packed.toString(kind === HEX24 ? 'hex' : 'utf8', start, end),
    );
    from = end;
  }
  return keys;
}

/** NaN for a kind that does not exist, or a length that is cut off. */
function lengthOf(packed: Buffer, from: number): number {
  const kind = packed[from];
  if (kind === UUID) return 16;
  if (kind === HEX24) return 12;
  return kind === TEXT && from + 3 <= packed.length ? packed.readUInt16BE(from + 1) : NaN;
}

function packKey(key: string): Buffer {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u.test(key))
    return tagged(UUID, Buffer.from(key.replaceAll('-', ''), 'hex'));
  if (/^[0-9a-f]{24}$/u.test(key)) return tagged(HEX24, Buffer.from(key, 'hex'));
  const text = Buffer.from(key, 'utf8');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return tagged(TEXT, length, text);
}

function tagged(kind: number, ...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.of(kind), ...parts]);
}

function uuidOf(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5');
}
