/**
 * The record keys of a page in few bytes: UUIDs as 16, 24-hex ids as 12, others as text. Sorted first, so that a page of
 * the same members in another order is the same page.
 */
import { ChangefeedError } from '../errors.js';

const VERSION = 1;
const UUID = 0;
const HEX24 = 1;
const TEXT = 2;

export function packKeys(keys: readonly string[]): Buffer {
  return Buffer.concat([Buffer.of(VERSION), ...[...keys].sort().map(packKey)]);
}

export function unpackKeys(packed: Buffer): string[] {
  if (packed[0] !== VERSION) {
    throw new ChangefeedError('CF_STATE_UNREADABLE', {
      message: `The stored members of a page have form ${packed[0] ?? 'nothing'}, which this release does not know: it was written by a newer one. Run that release, or name another redis.prefix.`,
    });
  }
  const keys: string[] = [];
  for (let at = 1; at < packed.length;) {
    const kind = packed[at];
    const start = kind === TEXT ? at + 3 : at + 1;
    const end = start + (kind === UUID ? 16 : kind === HEX24 ? 12 : packed.readUInt16BE(at + 1));
    keys.push(
      kind === UUID
        ? uuidOf(packed.toString('hex', start, end))
        : packed.toString(kind === HEX24 ? 'hex' : 'utf8', start, end),
    );
    at = end;
  }
  return keys;
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
