/** Compares tokens. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares digests, so that the time it takes says nothing about the token. */
export function isSameToken(given: string, token: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(token));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
