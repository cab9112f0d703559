/** The end of what a program said: usually why it failed. Bounded, however much it says. */
import { StringDecoder } from 'node:string_decoder';

/** In bytes; enough for the tail that is shown, in whatever script it is written. */
const KEPT_BYTES = 4_096;
/** In characters. */
const SHOWN_LENGTH = 300;

export class Tail {
  #kept = Buffer.alloc(0);
  #isCut = false;

  add(part: Buffer): void {
    const all = Buffer.concat([this.#kept, part]);
    this.#isCut ||= all.length > KEPT_BYTES;
    // A copy: a slice would hold the whole of what it was cut from.
    this.#kept = Buffer.from(all.subarray(-KEPT_BYTES));
  }

  /** One line, without control characters, at most 300 characters. */
  text(): string {
    // A cut in the middle of a character leaves up to three bytes of its rest.
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
