/** Text for a terminal: plural forms, widths, tables, colours. */
import { stripVTControlCharacters } from 'node:util';
import pc from 'picocolors';

/** `1 page`, `2 pages`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}

/** Columns on a terminal: a Korean character takes two, a colour none. */
export function widthOf(text: string): number {
  const plain = stripVTControlCharacters(text);
  return plain.length + (plain.match(/[ᄀ-ᅟ⺀-꓏가-힣豈-﫿︰-﹏＀-｠￠-￦]/gu)?.length ?? 0);
}

/** On one line and without control characters: records hold user input, which could otherwise control the terminal. */
export function printable(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(/\p{C}/gu, '');
}

/** Each column is as wide as its widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], { dim }: Colours): string {
  const widths = head.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, widthOf(row[column] ?? '')), widthOf(title)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell))))
      .join('  ')
      .trimEnd();
  return [dim(line(head)), ...rows.map(line)].join('\n');
}

export type Colours = ReturnType<typeof pc.createColors>;

export const noColours: Colours = pc.createColors(false);

/**
 * Colours of one stream: standard error may be a terminal while standard output is a file. On a terminal, unless NO_COLOR is
 * set; elsewhere only if FORCE_COLOR is set.
 */
export function coloursFor({
  stream,
  env,
}: {
  stream: { isTTY?: boolean };
  env: Readonly<Record<string, string | undefined>>;
}): Colours {
  const { NO_COLOR: no = '', FORCE_COLOR: force = '', TERM: terminal } = env;
  if (no !== '') return noColours;
  if (force !== '') return pc.createColors(force !== '0' && force !== 'false');
  return pc.createColors(stream.isTTY === true && terminal !== 'dumb');
}
