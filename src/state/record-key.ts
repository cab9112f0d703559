/**
 * How a record's key is written in Redis: UUIDs as 16 bytes, 24-digit hexadecimal ids as 12, others as they are. A first byte below
 * three says which.
 */

const UUID = 0;
const HEX24 = 1;
const TEXT = 2;

export type PackedKey = { kind: 'uuid' | 'hex24'; bytes: Buffer } | { kind: 'text'; bytes: Buffer };

/** The bytes of a key without what says which kind it is. */
export function keyBytes(key: string): PackedKey {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u.test(key))
    return { kind: 'uuid', bytes: Buffer.from(key.replaceAll('-', ''), 'hex') };
  if (/^[0-9a-f]{24}$/u.test(key)) return { kind: 'hex24', bytes: Buffer.from(key, 'hex') };
  return { kind: 'text', bytes: Buffer.from(key, 'utf8') };
}

export function keyFrom({ kind, bytes }: PackedKey): string {
  if (kind === 'text') return bytes.toString('utf8');
  const hex = bytes.toString('hex');
  return kind === 'hex24' ? hex : hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5');
}

/** A key as the field of a hash. */
export function recordField(key: string): Buffer {
  const { kind, bytes } = keyBytes(key);
  if (kind === 'uuid') return Buffer.concat([Buffer.of(UUID), bytes]);
  if (kind === 'hex24') return Buffer.concat([Buffer.of(HEX24), bytes]);
  return (bytes[0] ?? 0) <= TEXT ? Buffer.concat([Buffer.of(TEXT), bytes]) : bytes;
}

export function keyOfField(field: Buffer): string {
  const rest = field.subarray(1);
  if (field[0] === UUID) return keyFrom({ kind: 'uuid', bytes: rest });
  if (field[0] === HEX24) return keyFrom({ kind: 'hex24', bytes: rest });
  return keyFrom({ kind: 'text', bytes: field[0] === TEXT ? rest : field });
}

/** A field as redis-cli takes it. */
export function shownField(field: Buffer): string {
  const shown = [...field].map((byte) => (byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : hexOf(byte)));
  return `"${shown.join('').replace(/["\\](?!x[0-9a-f]{2})/gu, '\\$&')}"`;
}

function hexOf(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}
