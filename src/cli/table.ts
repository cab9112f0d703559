/** Columns as wide as their widest cell. */
import type { Colours } from './colours.js';
import { widthOf } from './text.js';

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
