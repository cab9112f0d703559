import { hash } from 'node:crypto';

/** 128 bits of SHA-256 as 22 characters. Enough, because a digest is only compared with one earlier digest. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** 66 bits as 11 characters, for the content of a record. */
export function shortDigest(text: string): string {
  return digestOf(text).slice(0, 11);
}

/** 64 bits as 16 hexadecimal digits, for the text of a record. Like a page's digest, it is compared with one earlier digest only. */
export function recordDigest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16);
}

/**
 * 32 bits as 8 hexadecimal digits, for digests that are kept once per field (`images: false`). A change of a field goes unnoticed once in
 * four thousand million times. With 16 bits it would be once in 65,000.
 */
export function fieldDigest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 8);
}
