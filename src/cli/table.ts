/** Columns as wide as their widest cell, where a Korean character takes two places and a colour none. */
import { stripVTControlCharacters } from 'node:util';
import pc from 'picocolors';

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(...[title, ...rows.map((row) => row[column] ?? '')].map(width)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - width(cell))))
      .join('  ')
      .trimEnd();
  return [pc.dim(line(head)), ...rows.map(line)].join('\n');
}

function width(text: string): number {
  const plain = stripVTControlCharacters(text);
  return plain.length + (plain.match(/[ᄀ-ᅟ⺀-꓏가-힣豈-﫿︰-﹏＀-｠￠-￦]/gu)?.length ?? 0);
}
