/**
 * Where the records of a page are in its bytes. With the layout of the last sweep, the unchanged records of a changed page are recognised
 * by their bytes, and only the others are parsed. An answer of another form than expected is no error: it is parsed as a whole.
 *
 * A layout is packed, because it is stored: four bytes with the place of the first record; then for each record its length
 * (2 bytes), digest (6) and its number among the sorted keys of the page (1).
 */
import type { HashBytes } from './page-digest.js';

export type PageLayout = Buffer;

const HEAD = 4;
const ENTRY = 9;
const DIGEST = 2;
const MEMBER = 8;
const LONGEST_RECORD = 0xffff;
const MOST_RECORDS = 256;

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The list is in an object in the body's object. */
const DEPTH_OF_LIST = 2;

/** Null for a page that cannot be recognised by records: spaces between records, long records, or too many. */
export function layoutOf(bytes: Buffer, hash: HashBytes): PageLayout | null {
  const first = startOfList(bytes);
  if (first === -1) return null;
  const slices: Slice[] = [];
  let at = first;
  while (bytes[at] !== CLOSE_LIST) {
    const end = endOfObject(bytes, at);
    if (end === -1) return null;
    slices.push({ length: end - at, digest: sliceDigest(bytes, { at, end, hash }) });
    if (bytes[end] === COMMA) at = end + 1;
    else if (bytes[end] === CLOSE_LIST) at = end;
    else return null;
  }
  return packLayout(first, slices);
}

export function recordsIn(layout: PageLayout): number {
  return (layout.length - HEAD) / ENTRY;
}

/** @param members of each record, in the order of the page, its number among the sorted keys of the page */
export function withMembers(layout: PageLayout, members: readonly number[]): PageLayout {
  const ordered = Buffer.from(layout);
  members.forEach((member, index) => ordered.writeUInt8(member, entry(index) + MEMBER));
  return ordered;
}

export function memberAt(layout: PageLayout, index: number): number | undefined {
  return layout[entry(index) + MEMBER];
}

export interface Recognised {
  /** The body with the number of a known record in place of each record that was recognised. */
  text: (textOf: (bytes: Buffer) => string) => string;
  /** How many were. */
  count: number;
  layout: PageLayout;
}

/** Several unknown records in a row, and most of the page: it is cheaper to parse it as a whole. */
const UNKNOWN_AT_FIRST = 8;

/** Null when the page is of another form, or when less than half of its records are known. */
export function recognise(bytes: Buffer, known: PageLayout, hash: HashBytes): Recognised | null {
  const first = known.readUInt32BE(0);
  if (bytes[first - 1] !== OPEN_LIST) return null;
  const count = recordsIn(known);
  const byDigest = new Map(Array.from({ length: count }, (_, index) => [digestAt(known, index), index]));
  const parts: (number | [from: number, to: number])[] = [[0, first]];
  const slices: Slice[] = [];
  const taken = new Set<number>();
  let next = 0;
  let at = first;
  while (bytes[at] !== CLOSE_LIST) {
    let end = at + (next < count ? lengthAt(known, next) : 0);
    let index = isEnd(bytes[end]) && isKnown(bytes, { at, end, hash }, { known, index: next }) ? next : -1;
    if (index === -1) {
      // Changed, new or at another place than before.
      end = endOfObject(bytes, at);
      if (end === -1) return null;
      index = byDigest.get(sliceDigest(bytes, { at, end, hash })) ?? -1;
      if (index !== -1 && lengthAt(known, index) !== end - at) index = -1;
    }
    if (index !== -1 && taken.has(index)) return null;
    if (index !== -1) taken.add(index);
    next = (index === -1 ? next : index) + 1;
    slices.push({ length: end - at, digest: sliceDigest(bytes, { at, end, hash }) });
    parts.push(index === -1 ? [at, end] : index);
    if (slices.length - taken.size > UNKNOWN_AT_FIRST + taken.size) return null;
    if (bytes[end] === COMMA) {
      parts.push([end, end + 1]);
      at = end + 1;
    } else if (bytes[end] === CLOSE_LIST) at = end;
    else return null;
  }
  const layout = packLayout(first, slices);
  if (layout === null || 2 * taken.size < slices.length) return null;
  parts.push([at, bytes.length]);
  const text: Recognised['text'] = (textOf) =>
    parts.map((part) => (typeof part === 'number' ? String(part) : textOf(bytes.subarray(...part)))).join('');
  return { text, count: taken.size, layout };
}

interface Slice {
  length: number;
  digest: number;
}

interface Range {
  at: number;
  end: number;
  hash: HashBytes;
}

function packLayout(first: number, slices: readonly Slice[]): PageLayout | null {
  if (slices.length > MOST_RECORDS || slices.some(({ length }) => length > LONGEST_RECORD)) return null;
  const layout = Buffer.alloc(HEAD + ENTRY * slices.length);
  layout.writeUInt32BE(first, 0);
  slices.forEach(({ length, digest }, index) => {
    layout.writeUInt16BE(length, entry(index));
    layout.writeUIntBE(digest, entry(index) + DIGEST, MEMBER - DIGEST);
  });
  return layout;
}

const entry = (index: number): number => HEAD + ENTRY * index;
const lengthAt = (layout: PageLayout, index: number): number => layout.readUInt16BE(entry(index));
const digestAt = (layout: PageLayout, index: number): number =>
  layout.readUIntBE(entry(index) + DIGEST, MEMBER - DIGEST);

function isEnd(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_LIST;
}

function isKnown(bytes: Buffer, range: Range, { known, index }: { known: PageLayout; index: number }): boolean {
  return range.end > range.at && sliceDigest(bytes, range) === digestAt(known, index);
}

/** 48 bits. Like that of a page, it is compared with one earlier digest, and only where the length is the same. */
function sliceDigest(bytes: Buffer, { at, end, hash }: Range): number {
  return Number(BigInt.asUintN(48, hash(bytes.subarray(at, end))));
}

/** The place after the first `[` in the object of the body's object; -1 when there is none. */
function startOfList(bytes: Buffer): number {
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at) - 1;
    else if (byte === OPEN) depth += 1;
    else if (byte === CLOSE) depth -= 1;
    else if (byte === OPEN_LIST) return depth === DEPTH_OF_LIST ? at + 1 : -1;
  }
  return -1;
}

/** The place after a JSON object; -1 when none begins there or it does not end. */
function endOfObject(bytes: Buffer, from: number): number {
  if (bytes[from] !== OPEN) return -1;
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at) - 1;
    else if (byte === OPEN || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** The place after a JSON string that begins there; the end of the bytes when it does not end. */
function endOfText(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) return at + 1;
  }
  return bytes.length;
}
