/** 8 bytes of a digest of each row's key, spread over buckets, because a field of a hash takes about 70 bytes. */
import { hash } from 'node:crypto';
import type { ListName } from '../../crm/lists/lists.js';
import type { WorkspaceRedis } from '../../redis/keys.js';
import { loadScript } from '../../redis/scripts.js';
import { inChunks } from './stored-records.js';

/** Each has a thousand of a million rows. */
const BUCKETS = 1_024;
const DIGEST_BYTES = 8;

const recogniseRows = loadScript('recognise-rows', import.meta.url);

export function rowField(key: string): [bucket: number, digest: Buffer] {
  const digest = hash('sha256', key, 'buffer').subarray(0, DIGEST_BYTES);
  return [digest.readUInt16BE() % BUCKETS, digest];
}

export async function recognisedRows(
  { redis, keys, workspace }: WorkspaceRedis,
  list: ListName,
  wanted: readonly string[],
): Promise<boolean[]> {
  const touched = [keys.rows(workspace, list)];
  return await inChunks(wanted, async (chunk) => {
    const recognised = (await recogniseRows.run(redis, touched, chunk.flatMap(rowField))) as number[];
    return recognised.map((one) => one === 1);
  });
}
