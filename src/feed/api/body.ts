/** Reads a body. One over the limit, before or after unpacking, or one that is not valid UTF-8, is an error. */
import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

/** A body that cannot be used; the message says why. */
export class BodyRefused extends Error {
  override readonly name: string = 'BodyRefused';
}

/** The body is larger than a page may be. The answer is valid, so the next one will be as large. */
export class BodyTooLarge extends BodyRefused {
  override readonly name = 'BodyTooLarge';
}

export const ACCEPT_ENCODING = 'gzip, deflate, br';

const UNPACK = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) };

export interface BodyOptions {
  maxBytes: number;
  encoding: string | undefined;
  length?: string | undefined;
}

/** @throws BodyRefused when larger than `maxBytes` or it cannot be unpacked; the stream's error when that fails */
export async function readBody(
  body: AsyncIterable<Buffer>,
  { maxBytes, encoding, length }: BodyOptions,
): Promise<Buffer> {
  const raw = await collect(body, maxBytes, length);
  return await unpack(raw, encoding?.trim().toLowerCase() ?? 'identity', maxBytes);
}

/** Drops a byte order mark. @throws BodyRefused when the bytes are not UTF-8 */
export function utf8(bytes: Buffer): Buffer {
  // A lenient decoder would put replacement characters into records, and each would be reported as a change.
  if (!isUtf8(bytes)) throw new BodyRefused('the body is not UTF-8');
  return bytes.indexOf('\ufeff') === 0 ? bytes.subarray(3) : bytes;
}

async function collect(body: AsyncIterable<Buffer>, maxBytes: number, length?: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes, length);
    chunks.push(chunk);
  }
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size);
}

async function unpack(raw: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  if (encoding === 'identity' || encoding === '' || raw.length === 0) return raw;
  const name = encoding === 'x-gzip' ? 'gzip' : encoding;
  if (!isKnown(name)) throw new BodyRefused('the body is packed in a way that was not asked for');
  try {
    return await UNPACK[name](raw, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw new BodyRefused(`the body could not be unpacked (${name})`, { cause: error });
  }
}

function isKnown(name: string): name is keyof typeof UNPACK {
  return Object.hasOwn(UNPACK, name);
}

function tooLarge(maxBytes: number, length?: string): BodyTooLarge {
  const size = length === undefined || Number(length) <= maxBytes ? 'the body' : `the body of ${length} bytes`;
  return new BodyTooLarge(`${size} is larger than the ${maxBytes} bytes allowed`);
}
