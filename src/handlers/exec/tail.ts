/** The end of a program's output, which usually says why it failed. Bounded in size. */
import { StringDecoder } from 'node:string_decoder';

/** In bytes; enough for the part that is shown, in any script. */
const KEPT_BYTES = 4_096;
/** In characters. */
const SHOWN_LENGTH = 300;

export class Tail {
  #kept = Buffer.alloc(0);
  #isCut = false;

  add(part: Buffer): void {
    const all = Buffer.concat([this.#kept, part]);
    this.#isCut ||= all.length > KEPT_BYTES;
    // A copy: a slice would keep the whole buffer in memory.
    this.#kept = Buffer.from(all.subarray(-KEPT_BYTES));
  }

  /** One line, without control characters, at most 300 characters. */
  text(): string {
    // A cut in the middle of a character leaves up to three bytes of it.
    const start = this.#isCut ? this.#kept.findIndex((byte) => (byte & 0xc0) !== 0x80) : 0;
    return tailOf(new StringDecoder('utf8').write(this.#kept.subarray(Math.max(start, 0))), this.#isCut);
  }
}

export function tailOf(text: string, isCut = false): string {
  const line = text
    .replace(/\u001b\[[\d;]*[A-Za-z]/g, '')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  const characters = Array.from(line);
  if (characters.length <= SHOWN_LENGTH && !isCut) return line;
  return `…${characters.slice(-(SHOWN_LENGTH - 1)).join('')}`;
}
