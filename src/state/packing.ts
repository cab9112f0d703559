/**
 * How a record is stored in Redis: a version byte, a checksum, and, deflated with a dictionary, a line of JSON with what is known
 * about the record followed by the record's JSON as it was received.
 *
 * MessagePack with shared structures is smaller, but a record could then be read only together with the structures of its time
 * (docs/detection.md has the measurements). In this format each value can be read by itself.
 */
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import type { SerialisedRecord } from '../sweep/store.js';
import { DICTIONARY } from './packing-dictionary.js';
import { checked, parseJson, unreadable, type StoredAt } from './stored.js';

/** One byte. Increase it with every change of the format or of the dictionary. */
const VERSION = '3';
const CHECKSUM_BYTES = 4;
const HEADER_BYTES = VERSION.length + CHECKSUM_BYTES;

const gone = z.object({
  at: z.string(),
  modifiedAt: z.string().nullable(),
  content: z.string(),
  dropped: z.literal(true).exactOptional(),
});
const doubt = z.object({
  content: z.string(),
  sweep: z.string(),
  sightings: z.number(),
  certain: z.literal(true).exactOptional(),
});
const decision = z.object({
  at: z.string(),
  sweep: z.string(),
  what: z.enum(['created', 'edited', 'refreshed', 'touched', 'muted', 'stale', 'deleted', 'reappeared']),
  fields: z.array(z.string()).exactOptional(),
  furtherFields: z.number().exactOptional(),
  rule: z.string().exactOptional(),
  event: z.string().exactOptional(),
  times: z.number().exactOptional(),
});
type Rest = Omit<SerialisedRecord, 'digest' | 'sequence' | 'image'>;
type Head = readonly [digest: string, sequence: number, hasImage: boolean, rest: Rest];
const headSchema: z.ZodType<Head> = z.tuple([
  z.string(),
  z.number(),
  z.boolean(),
  z.object({
    fields: z.record(z.string(), z.string()).exactOptional(),
    modifiedAt: z.string().nullable().exactOptional(),
    earlier: z.array(z.string()).exactOptional(),
    doubt: doubt.exactOptional(),
    gone: gone.exactOptional(),
    decisions: z.array(decision).exactOptional(),
    dueSince: z.string().exactOptional(),
  }),
]);

export function packRecord({ digest, sequence, image, ...rest }: SerialisedRecord): Buffer {
  const head = JSON.stringify([digest, sequence, image !== null, rest]);
  const text = image === null ? head : `${head}\n${image}`;
  const packed = deflateRawSync(text, { level: 6, dictionary: DICTIONARY });
  const header = Buffer.alloc(HEADER_BYTES, VERSION, 'latin1');
  header.writeUInt32BE(crc32(packed), VERSION.length);
  return Buffer.concat([header, packed]);
}

/**
 * @param hash the Redis key that the value was read from
 * @param field its field
 * @throws ChangefeedError CF_STATE_UNREADABLE for a value that this release did not write
 */
export function unpackRecord(stored: Buffer, hash: string, field: string): SerialisedRecord {
  const packed = stored.subarray(HEADER_BYTES);
  // The image is not parsed here, but the checksum covers it.
  if (stored.length < HEADER_BYTES || stored.toString('latin1', 0, VERSION.length) !== VERSION)
    throw unreadable(recordAt(hash, field), `${stored.length} bytes without format version ${VERSION}`);
  if (stored.readUInt32BE(VERSION.length) !== crc32(packed))
    throw unreadable(recordAt(hash, field), `${stored.length} bytes whose checksum is wrong`);
  const text = inflateRawSync(packed, { dictionary: DICTIONARY }).toString('utf8');
  const cut = text.indexOf('\n');
  const at = recordAt(hash, field);
  const [digest, sequence, hasImage, rest] = checked(
    headSchema,
    parseJson(cut === -1 ? text : text.slice(0, cut), at),
    at,
  );
  return { digest, sequence, image: hasImage ? text.slice(cut + 1) : null, ...rest };
}

function recordAt(hash: string, field: string): StoredAt {
  return {
    key: hash,
    field,
    what: 'a stored record',
    remedy: `Restore Redis from a backup, or remove the record (HDEL ${hash} ${field}), which then counts as new. If another release wrote it, run that release or set another redis.prefix.`,
  };
}

/** The JSON of a quarantined record: kept for one or two sweeps, but perhaps of every row of the list. */
export function packQuarantined(json: string): Buffer {
  return packRecord({ digest: '', sequence: 0, image: json });
}

export function unpackQuarantined(packed: Buffer, hash: string, field: string): string | null {
  return unpackRecord(packed, hash, field).image;
}
