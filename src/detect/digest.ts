import { hash } from 'node:crypto';

/** 128 bits of SHA-256 as 22 characters: a digest is compared with one earlier digest, not searched among millions. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
