/** Reads the stored records of a list, and their digests and sequences alone. */
import type { ListName } from '../../crm/lists/lists.js';
import type { SerialisedRecord } from './sweep-state.js';
import { type WorkspaceRedis, keyOfField, recordField } from '../../redis/keys.js';
import { digestOfPacked, headOfPacked, HEAD_BYTES, unpackRecord } from './packing.js';
import { loadScript } from '../../redis/scripts.js';

const readHeadsScript = loadScript('read-digests', import.meta.url);
const scanHeadsScript = loadScript('scan-digests', import.meta.url);

const SCAN_COUNT = 1_000;
const FIRST_CURSOR = '0';
/** Redis answers one command at a time: reading 60,000 fields at once would make every other client wait. */
const CHUNK = 1_000;

export async function inChunks<T>(wanted: readonly string[], read: (chunk: string[]) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let at = 0; at < wanted.length; at += CHUNK) {
    for (const result of await read(wanted.slice(at, at + CHUNK))) all.push(result);
  }
  return all;
}

export async function readDigests(scope: WorkspaceRedis, list: ListName, wanted: readonly string[]) {
  return await readHeads({ ...scope, list, read: digestOfPacked }, wanted);
}

/** The head of a stored record, without its contents. */
export type RecordHead = ReturnType<typeof headOfPacked>;

export async function readRecordHeads(scope: WorkspaceRedis, list: ListName, wanted: readonly string[]) {
  return await readHeads({ ...scope, list, read: headOfPacked }, wanted);
}

type ReadHead<Head> = WorkspaceRedis & { list: ListName; read: (head: Buffer, hash: string, key: string) => Head };

async function readHeads<Head>({ redis, keys, workspace, list, read }: ReadHead<Head>, wanted: readonly string[]) {
  const hash = keys.records(workspace, list);
  return await inChunks(wanted, async (chunk) => {
    const heads = await readHeadsScript.runBuffer(redis, [hash], [HEAD_BYTES, ...chunk.map(recordField)]);
    return (heads as (Buffer | null)[]).map((head, index) =>
      head === null ? null : read(head, hash, chunk[index] ?? ''),
    );
  });
}

export async function readRecords(
  scope: WorkspaceRedis,
  list: ListName,
  wanted: readonly string[],
): Promise<(SerialisedRecord | null)[]> {
  const hash = scope.keys.records(scope.workspace, list);
  return await inChunks(wanted, async (chunk) => {
    const packed = await scope.redis.hmgetBuffer(hash, ...chunk.map(recordField));
    const stored = packed.flatMap((bytes, index) => (bytes === null ? [] : [[chunk[index] ?? '', bytes] as const]));
    const records = new Map(unpackAll(scope, list, stored));
    return chunk.map((key) => records.get(key) ?? null);
  });
}

/** Every record key of a list with its digest, in steps. A record may come twice. */
export async function* everyDigest(
  { redis, keys, workspace }: WorkspaceRedis,
  list: ListName,
): AsyncGenerator<[key: string, digest: string][]> {
  const hash = keys.records(workspace, list);
  let cursor = FIRST_CURSOR;
  do {
    const answer = await scanHeadsScript.runBuffer(redis, [hash], [cursor, SCAN_COUNT, HEAD_BYTES]);
    const [next, flat] = answer as [Buffer, Buffer[]];
    yield recordsIn(flat).map(([key, head]) => [key, digestOfPacked(head, hash, key)]);
    cursor = next.toString();
  } while (cursor !== FIRST_CURSOR);
}

/** The stored records of a list, in steps. A record may come twice. */
export async function* everyRecord(scope: WorkspaceRedis, list: ListName) {
  const { redis, keys, workspace } = scope;
  for await (const step of redis.hscanBufferStream(keys.records(workspace, list), { count: SCAN_COUNT }))
    yield unpackAll(scope, list, recordsIn(step as Buffer[]));
}

/** Fields and values in turns, as HSCAN gives them. */
export function recordsIn(flat: readonly Buffer[]): [key: string, value: Buffer][] {
  const records: [string, Buffer][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const [field, value] = [flat[at], flat[at + 1]];
    if (field !== undefined && value !== undefined) records.push([keyOfField(field), value]);
  }
  return records;
}

/** How many records of the list are stored, deleted ones included. */
export async function countRecords({ redis, keys, workspace }: WorkspaceRedis, list: ListName): Promise<number> {
  return await redis.hlen(keys.records(workspace, list));
}

/** @throws ChangefeedError CF_STATE_UNREADABLE */
export function unpackAll(
  { keys, workspace }: WorkspaceRedis,
  list: ListName,
  stored: readonly (readonly [key: string, packed: Buffer])[],
): [key: string, record: SerialisedRecord][] {
  const hash = keys.records(workspace, list);
  return stored.map(([key, packed]) => [key, unpackRecord(packed, { hash, key })]);
}
