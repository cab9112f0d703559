/**
 * How a record is stored in Redis:
 *
 *     version · digest of its text · checksum · deflated text
 *
 * The text is a line of JSON with what is known about the record, then its image, if any, as received. The digest
 * is first, to be read alone. The record's key ends the dictionary: the id is part of most records.
 */
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { storedFacts } from '../detect/stored-record.js';
import type { SerialisedRecord } from './sweep-state.js';
import { DICTIONARY } from './packing-dictionary.js';
import { textOf } from '../../kit/utf8.js';
import { readJson, unreadable, type StoredAt } from '../../redis/stored.js';

/** One byte. Increase it with every change of the format or of the dictionary. */
const VERSION = '8';
/** A digest of 16 hexadecimal digits is stored as 8 bytes after this byte; any other text after its length. */
const BINARY = 255;
const BINARY_DIGEST = /^[0-9a-f]{16}$/u;
const BINARY_DIGEST_BYTES = 8;
/** The most bytes that a digest takes, with the version. */
export const HEAD_BYTES = 32;
const CHECKSUM_BYTES = 4;

const headSchema = z.tuple([z.number(), storedFacts]);

export function packRecord(key: string, record: SerialisedRecord): Buffer {
  const { digest, sequence, image, ...rest } = record;
  const head = JSON.stringify([sequence, rest]);
  const whole = image === null ? head : `${head}\n${image}`;
  return Buffer.concat([
    Buffer.from(VERSION, 'latin1'),
    packDigest(digest),
    checksumOf(whole),
    deflateRawSync(whole, { ...DEFLATE, dictionary: withKey(DICTIONARY, key) }),
  ]);
}

/** Smaller tables and buffers than the defaults are faster to set up. For texts of this size they find as much. */
const DEFLATE = { level: 5, memLevel: 5, chunkSize: 1_024 };
const INFLATE = { chunkSize: 4_096 };

function withKey(dictionary: Buffer, key: string): Buffer {
  return Buffer.concat([dictionary, Buffer.from(key, 'utf8')]);
}

function packDigest(digest: string): Buffer {
  if (BINARY_DIGEST.test(digest)) return Buffer.concat([Buffer.of(BINARY), Buffer.from(digest, 'hex')]);
  const text = Buffer.from(digest, 'latin1');
  return Buffer.concat([Buffer.of(text.length), text]);
}

function checksumOf(text: string): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(text));
  return checksum;
}

/** The digest in the first HEAD_BYTES of a stored record. @throws ChangefeedError CF_STATE_UNREADABLE */
export function digestOfPacked(head: Buffer, hash: string, key: string): string {
  const { digest, end } = readDigest(head);
  if (!isPacked(head) || end > head.length) throw unreadableRecord(head, hash, key);
  return digest;
}

function isPacked(stored: Buffer): boolean {
  return stored.toString('latin1', 0, 1) === VERSION;
}

function readDigest(stored: Buffer): { digest: string; end: number } {
  const start = VERSION.length + 1;
  const length = stored[VERSION.length] ?? 0;
  const isBinary = length === BINARY;
  const end = start + (isBinary ? BINARY_DIGEST_BYTES : length);
  return { digest: stored.toString(isBinary ? 'hex' : 'latin1', start, end), end };
}

/** @param hash its Redis key @param key the record's @throws CF_STATE_UNREADABLE: not written by this release */
export function unpackRecord(stored: Buffer, { hash, key }: { hash: string; key: string }): SerialisedRecord {
  const at = recordAt(hash, key);
  if (!isPacked(stored)) throw unreadableRecord(stored, hash, key);
  const { digest, end } = readDigest(stored);
  const text = readText(stored.subarray(end), key);
  if (text === null) throw unreadable(at, `${stored.length} bytes whose checksum is wrong`);
  const cut = text.indexOf('\n');
  const [sequence, rest] = readJson(headSchema, cut === -1 ? text : text.slice(0, cut), at);
  return { digest, sequence, image: cut === -1 ? null : text.slice(cut + 1), ...rest };
}

/** Null when the checksum does not fit. */
function readText(stored: Buffer, key: string): string | null {
  const from = CHECKSUM_BYTES;
  if (stored.length < from + 1) return null;
  const text = inflated(stored.subarray(from), withKey(DICTIONARY, key));
  return text !== null && checksumOf(text).equals(stored.subarray(0, CHECKSUM_BYTES)) ? text : null;
}

function inflated(packed: Buffer, dictionary: Buffer): string | null {
  try {
    return textOf(inflateRawSync(packed, { ...INFLATE, dictionary }));
  } catch {
    return null;
  }
}

function unreadableRecord(stored: Buffer, hash: string, key: string): Error {
  return unreadable(recordAt(hash, key), `${stored.length} bytes without format version ${VERSION}`);
}

function recordAt(hash: string, key: string): StoredAt {
  return { what: 'a stored record', key: hash, field: key };
}
