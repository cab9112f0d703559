/**
 * A record's key as the field of a hash in Redis: UUIDs as 16 bytes, 24-digit hexadecimal ids as 12, others as they are. A first byte below
 * three says which.
 */

const UUID = 0;
const HEX24 = 1;
const TEXT = 2;

export function recordField(key: string): Buffer {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u.test(key))
    return Buffer.concat([Buffer.of(UUID), Buffer.from(key.replaceAll('-', ''), 'hex')]);
  if (/^[0-9a-f]{24}$/u.test(key)) return Buffer.concat([Buffer.of(HEX24), Buffer.from(key, 'hex')]);
  const bytes = Buffer.from(key, 'utf8');
  return (bytes[0] ?? 0) <= TEXT ? Buffer.concat([Buffer.of(TEXT), bytes]) : bytes;
}

export function keyOfField(field: Buffer): string {
  const hex = field.toString('hex', 1);
  if (field[0] === UUID) return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5');
  if (field[0] === HEX24) return hex;
  return field.toString('utf8', field[0] === TEXT ? 1 : 0);
}

/** A field as redis-cli takes it. */
export function shownField(field: Buffer): string {
  const shown = [...field].map((byte) => (byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : hexOf(byte)));
  return `"${shown.join('').replace(/["\\](?!x[0-9a-f]{2})/gu, '\\$&')}"`;
}

function hexOf(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}
