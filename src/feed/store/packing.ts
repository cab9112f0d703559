/**
 * How a record is stored in Redis:
 *
 *     version · digest of its text · sequence · checksum · deflated text
 *
 * The text is a line of JSON with what else is known about the record, then its image, if any, as received. Digest and
 * sequence come first, to be read alone. The record's key ends the dictionary: the id is part of most records.
 */
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { storedFacts } from '../detect/stored-record.js';
import type { SerialisedRecord } from './sweep-state.js';
import { DICTIONARY } from './packing-dictionary.js';
import { textOf } from '../../kit/utf8.js';
import { readJson, unreadable, type StoredAt } from '../../redis/stored.js';

/** One byte. Increase it with every change of the format or of the dictionary. */
const VERSION = 'A';
/** A digest of 16 hexadecimal digits is stored as 8 bytes after this byte; any other text after its length. */
const BINARY = 255;
const BINARY_DIGEST = /^[0-9a-f]{16}$/u;
const BINARY_DIGEST_BYTES = 8;
/** The most bytes that version, digest and sequence take. */
export const HEAD_BYTES = 32;
const CHECKSUM_BYTES = 4;

export function packRecord(key: string, record: SerialisedRecord): Buffer {
  const { digest, sequence, image, ...rest } = record;
  const facts = JSON.stringify(rest);
  const text = image === null ? facts : `${facts}\n${image}`;
  const head = Buffer.concat([Buffer.from(VERSION, 'latin1'), packDigest(digest), packNumber(sequence)]);
  const deflated = deflateRawSync(text, { ...DEFLATE, dictionary: withKey(DICTIONARY, key) });
  return Buffer.concat([head, checksumOf(head, text), deflated]);
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

/** Seven bits in each byte, the lowest first. All but the last have the eighth bit: most sequences take one byte. */
export function packNumber(number: number): Buffer {
  const bytes: number[] = [];
  let rest = number;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push(128 + (rest % 128));
  return Buffer.of(...bytes, rest);
}

function checksumOf(head: Buffer, text: string): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(text, crc32(head)));
  return checksum;
}

/** The digest in the first HEAD_BYTES of a stored record. @throws ChangefeedError CF_STATE_UNREADABLE */
export function digestOfPacked(head: Buffer, hash: string, key: string): string {
  const { digest, end } = readDigest(head);
  if (!isPacked(head) || end > head.length) throw unreadableRecord(head, hash, key);
  return digest;
}

/** Digest and sequence in the first HEAD_BYTES of a stored record. @throws ChangefeedError CF_STATE_UNREADABLE */
export function headOfPacked(stored: Buffer, hash: string, key: string) {
  if (!isPacked(stored)) throw unreadableRecord(stored, hash, key);
  const { digest, end: start } = readDigest(stored);
  const { number: sequence, end } = readPackedNumber(stored, start);
  if (end > stored.length) throw unreadableRecord(stored, hash, key);
  return { digest, sequence, end };
}

/** `end` is behind the end of what is stored where the number is cut off. */
export function readPackedNumber(stored: Buffer, start: number): { number: number; end: number } {
  let [number, weight, end] = [0, 1, start];
  for (; (stored[end] ?? 0) > 127; end += 1, weight *= 128) number += weight * ((stored[end] ?? 0) - 128);
  return { number: number + weight * (stored[end] ?? 0), end: end + 1 };
}

function isPacked(stored: Buffer): boolean {
  return stored[0] === VERSION.charCodeAt(0);
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
  const { digest, sequence, end } = headOfPacked(stored, hash, key);
  const text = readText(stored, end, key);
  if (text === null) throw unreadable(at, `${stored.length} bytes whose checksum is wrong`);
  const cut = text.indexOf('\n');
  const rest = readJson(storedFacts, cut === -1 ? text : text.slice(0, cut), at);
  return { digest, sequence, image: cut === -1 ? null : text.slice(cut + 1), ...rest };
}

/** Null when the checksum does not fit. */
function readText(stored: Buffer, head: number, key: string): string | null {
  const start = head + CHECKSUM_BYTES;
  if (stored.length <= start) return null;
  const text = inflated(stored.subarray(start), withKey(DICTIONARY, key));
  if (text === null) return null;
  return checksumOf(stored.subarray(0, head), text).equals(stored.subarray(head, start)) ? text : null;
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
