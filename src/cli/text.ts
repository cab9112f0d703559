/** Words and widths for a terminal. */
import { stripVTControlCharacters } from 'node:util';

/** `1 page`, `2 pages`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}

/** Places on a terminal: a Korean character takes two, a colour none. */
export function widthOf(text: string): number {
  const plain = stripVTControlCharacters(text);
  return plain.length + (plain.match(/[ᄀ-ᅟ⺀-꓏가-힣豈-﫿︰-﹏＀-｠￠-￦]/gu)?.length ?? 0);
}
