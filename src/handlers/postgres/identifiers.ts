/** PostgreSQL names: any characters, quoted, never truncated. Pure. */

/** In bytes. PostgreSQL truncates longer names, and two names may become one. */
const LONGEST_BYTES = 63;

export const A_NAME = `a name of 1 to ${LONGEST_BYTES} bytes (a Korean letter takes 3)`;

export function isIdentifier(name: string): boolean {
  return name !== '' && !name.includes('\0') && Buffer.byteLength(name, 'utf8') <= LONGEST_BYTES;
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
