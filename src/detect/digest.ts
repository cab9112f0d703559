import { hash } from 'node:crypto';

/** 128 bits of SHA-256 as 22 characters. Enough, because a digest is only compared with one earlier digest. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** 66 bits as 11 characters, for digests that are kept once per field. */
export function shortDigest(text: string): string {
  return digestOf(text).slice(0, 11);
}
