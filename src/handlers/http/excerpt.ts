/** The start of an answer's body for an error message: one short line without secrets. */
import type { Readable } from 'node:stream';

/** In characters. */
const EXCERPT_LENGTH = 200;
/** Enough for the excerpt and for a secret that begins within it. A receiver cannot make us read more. */
const READ_BYTES = 4_096;

/** Reads no more than needed and releases the body. If the body breaks off, returns what arrived. */
export async function readExcerpt(body: Readable, hidden: readonly string[]): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      parts.push(part);
      size += part.length;
      if (size >= READ_BYTES) break;
    }
  } catch {
    // The status is enough.
  }
  return excerptOf(Buffer.concat(parts).toString('utf8', 0, READ_BYTES), hidden);
}

export function excerptOf(text: string, hidden: readonly string[]): string {
  const clean = hidden
    .filter((secret) => secret.length >= 4)
    .reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
  const line = clean.replace(/[\p{C}\s]+/gu, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= EXCERPT_LENGTH ? line : `${characters.slice(0, EXCERPT_LENGTH - 1).join('')}…`;
}
