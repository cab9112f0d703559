/** The text of bytes in UTF-8, as of `toString`. V8 reads Korean a character at a time, which takes four times as long. */
import { isAscii, transcode } from 'node:buffer';

/** A short text is not worth a second buffer. */
const LEAST_BYTES = 100;

export function textOf(bytes: Buffer): string {
  if (bytes.length < LEAST_BYTES || isAscii(bytes)) return bytes.toString();
  try {
    return transcode(bytes, 'utf8', 'ucs2').toString('ucs2');
  } catch {
    // It is not UTF-8: what is wrong is replaced.
    return bytes.toString();
  }
}
