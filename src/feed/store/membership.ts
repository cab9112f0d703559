/** Which records are on which page, and which are missing. Removals are decided from this. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import type { ListName } from '../../crm/lists/lists.js';
import { heldExample, type Held, type HeldExample } from '../detect/held.js';
import { missingSchema, UNCONFIRMED, type Missing } from '../detect/removal.js';
import { decisionField, HELD_EXAMPLES, type Decision, type Membership } from './sweep-state.js';
import { readSummary } from './checkpoint.js';
import { usage } from '../../kit/errors.js';
import type { WorkspaceRedis } from '../../redis/keys.js';
import { readJson, unreadable } from '../../redis/stored.js';

const CHUNK = 500;

export function membershipStore(scope: WorkspaceRedis) {
  const { redis, keys, workspace } = scope;
  const membersOf = async (list: ListName, pages: readonly number[]): Promise<(string[] | null)[]> => {
    if (pages.length === 0) return [];
    const hash = keys.members(workspace, list);
    const packed = await redis.hmgetBuffer(hash, ...pages.map(String));
    return packed.map((bytes, index) => (bytes === null ? null : unpackKeys(bytes, hash, pages[index] ?? 0)));
  };
  const walkedMembers = (list: ListName) => readPages(scope, keys.walkMembers(workspace, list));
  const beforeSweep = async (list: ListName, isWanted?: (page: number) => boolean): Promise<Map<number, string[]>> => {
    const [pages, ids] = await Promise.all([
      readPages(scope, keys.members(workspace, list), isWanted),
      readUnconfirmed(scope, list),
    ]);
    return ids === null ? pages : pages.set(UNCONFIRMED, ids);
  };
  return {
    /** The members of pages in the last complete sweep, sorted; null where there was no such page. */
    membersOf,
    /** Whether some record is missing, or seen only by an abandoned sweep. */
    hasUndecided: async (list: ListName): Promise<boolean> =>
      (await redis.exists(keys.missing(workspace, list), keys.unconfirmed(workspace, list))) > 0,
    async membership(list: ListName): Promise<Membership> {
      const read = [beforeSweep(list), walkedMembers(list), readMissing(scope, list)] as const;
      const [before, changed, missing] = await Promise.all(read);
      return { before, changed, missing };
    },
    /** The members of the pages that the sweep under way has read and that have other members than before. */
    walkedMembers,
    /** `membership` without the pages that the sweep under way, of this many pages, left as they were. */
    async membershipChange(list: ListName, pages: number): Promise<Membership> {
      const [changed, missing] = await Promise.all([walkedMembers(list), readMissing(scope, list)]);
      return { before: await beforeSweep(list, (page) => page > pages || changed.has(page)), changed, missing };
    },
    /** Finds the pages of the last complete sweep that hold wanted records, without those excepted. Needs little memory. */
    async pagesHolding(list: ListName, wanted: ReadonlySet<string>, except: (page: number) => boolean) {
      const holding = new Map<number, string[]>();
      if (wanted.size === 0) return holding;
      for await (const [page, members] of pagesIn(scope, keys.members(workspace, list), (one) => !except(one))) {
        const held = members.filter((key) => wanted.has(key));
        if (held.length > 0) holding.set(page, held);
      }
      return holding;
    },
    ...heldDecisions(scope),
  };
}

function heldDecisions(scope: WorkspaceRedis) {
  const { redis, keys, workspace } = scope;
  const decideHeld = async (list: ListName, as: Decision, what: Held['what'] | undefined): Promise<readonly Held[]> => {
    const sweep = keys.sweep(workspace, list);
    const held = readSummary(await redis.hget(sweep, 'lastSweep'), scope, list)?.held ?? [];
    const meant = held.filter((one) => what === undefined || one.what === what);
    for (const { what: kind, at } of meant) {
      const discardedAt = await redis.hget(sweep, decisionField('discardedAt', kind));
      // A sweep that is being finished may already have stored what it discards.
      if (as === 'acceptedAt' && discardedAt !== null && discardedAt >= at)
        throw usage(
          `List "${list}": what is held has been discarded, which the next complete sweep carries out. It can no longer be accepted.`,
        );
    }
    const decisions = redis.multi();
    const other = as === 'acceptedAt' ? 'discardedAt' : 'acceptedAt';
    for (const { what: kind, at } of meant)
      decisions.hset(sweep, decisionField(as, kind), at).hdel(sweep, decisionField(other, kind));
    await decisions.exec();
    return meant;
  };
  return {
    /** Accepts what the last complete sweep held, or one kind of it; the next one reports it. Returns what that was. */
    acceptHeld: async (list: ListName, what?: Held['what']): Promise<readonly Held[]> =>
      await decideHeld(list, 'acceptedAt', what),
    /**
     * Lets the next complete sweep decide without events what the last one held, or one kind of it: missing records are no longer in the list, new
     * ones are stored. Both are said to be discarded (detect/record-state.ts). Returns what that was.
     */
    discardHeld: async (list: ListName, what?: Held['what']): Promise<readonly Held[]> =>
      await decideHeld(list, 'discardedAt', what),
    /** The ids of some records that the last complete sweeps missed. */
    async someMissing(list: ListName, count: number): Promise<string[]> {
      return [...(await readMissing(scope, list)).keys()].slice(0, count);
    },
    /** Some of the new records that are held. */
    async heldNew(list: ListName): Promise<HeldExample[]> {
      const key = keys.sweep(workspace, list);
      const json = await redis.hget(key, HELD_EXAMPLES);
      const at = { what: 'held new records', key, field: HELD_EXAMPLES } as const;
      return json === null ? [] : readJson(z.array(heldExample), json, at);
    },
  };
}

async function readUnconfirmed({ redis, keys, workspace }: WorkspaceRedis, list: ListName): Promise<string[] | null> {
  const ids = new Set<string>();
  for await (const batch of redis.sscanStream(keys.unconfirmed(workspace, list), { count: CHUNK }))
    for (const id of batch as string[]) ids.add(id);
  return ids.size === 0 ? null : [...ids].sort();
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
  for await (const batch of redis.hscanStream(hash, { count: CHUNK })) {
    const flat = batch as string[];
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
