/** Text for a terminal: plural forms, widths, tables, colours. */
import measure from 'fast-string-truncated-width';
import pc from 'picocolors';

export { printable } from '../kit/printable.js';

const SEGMENTER = new Intl.Segmenter('ko');

/** `1 page`, `1,204 pages`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : plural}`;
}

/** Columns on a terminal: a Korean character takes two, a colour none. */
export function widthOf(text: string): number {
  return measure(text).width;
}

export function cut(text: string, columns: number): string {
  return widthOf(text) <= columns ? text : `${beginning(text, columns - 1).trimEnd()}…`;
}

/** As many whole characters as fit. The measuring library cuts too, but places some characters wrongly. */
function beginning(text: string, columns: number): string {
  let left = columns;
  let kept = '';
  for (const { segment } of SEGMENTER.segment(text)) {
    left -= widthOf(segment);
    if (left < 0) break;
    kept += segment;
  }
  return kept;
}

const GAP = '  ';
const NARROWEST = 10;

/** A table that is wider than the terminal wraps the cells of its widest columns; these have no colours. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { dim }: Colours,
  columns = Infinity,
): string {
  const natural = head.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, widthOf(row[column] ?? '')), widthOf(title)),
  );
  const widths = fitting(natural, columns);
  const lines = (cells: readonly string[]): string[] => {
    const wrapped = cells.map((cell, column) => wrap(cell, widths[column] ?? Infinity));
    const height = Math.max(1, ...wrapped.map(({ length }) => length));
    return Array.from({ length: height }, (_, line) =>
      wrapped
        .map((parts, column) => padded(parts[line] ?? '', widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    );
  };
  return [...lines(head).map(dim), ...rows.flatMap(lines)].join('\n');
}

/** The table in colours where it fits, otherwise wrapped and without: cells that are wrapped must have none. */
export function fittedTable(
  head: readonly string[],
  rowsIn: (colours: Colours) => string[][],
  { colours, columns }: { colours: Colours; columns: number },
): string {
  const natural = table(head, rowsIn(colours), colours);
  const width = Math.max(...natural.split('\n').map(widthOf));
  return width <= columns ? natural : table(head, rowsIn(noColours), colours, columns);
}

function fitting(natural: readonly number[], columns: number): number[] {
  const widths = [...natural];
  const gaps = GAP.length * Math.max(0, widths.length - 1);
  for (;;) {
    const widest = Math.max(0, ...widths);
    if (widths.reduce((sum, width) => sum + width, gaps) <= columns || widest <= NARROWEST) return widths;
    widths[widths.indexOf(widest)] = widest - 1;
  }
}

export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Continues a text that is wider than the terminal on the next lines, indented. Without colours. */
export function hanging(text: string, columns: number, indent = '    '): string {
  const lead = /^ */.exec(text)?.[0] ?? '';
  const words = text.slice(lead.length);
  const [first = ''] = wrap(words, columns - lead.length);
  const rest = words.slice(first.length).trimStart();
  if (rest === '') return text;
  return [lead + first, ...wrap(rest, columns - indent.length).map((line) => indent + line)].join('\n');
}

/** A line of a code frame: wrapped, its marker would point at nothing. */
const FRAME = /^\s*(> )?\d*\s*\|/;

/** Wraps text that people read; never use it for JSON or code, which they copy. A colour may go on over the end of a line. */
export function fitted(text: string, columns = Infinity): string {
  return text
    .split('\n')
    .map((line) => {
      if (widthOf(line) <= columns || FRAME.test(line)) return line;
      const lead = /^ */.exec(line)?.[0] ?? '';
      return hanging(line, columns, `${lead}  `);
    })
    .join('\n');
}

/** Between words; a word that is wider than a line is continued on the next one, so that an id can still be copied. */
export function wrap(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (widthOf(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (widthOf(line) > width) {
      const part = beginning(line, Math.max(2, width));
      lines.push(part);
      line = line.slice(part.length);
    }
  }
  return [...lines, line];
}

export type Colours = ReturnType<typeof pc.createColors>;

export const noColours: Colours = pc.createColors(false);

export function coloursFor({ isTTY }: { isTTY?: boolean }, env: Readonly<Record<string, string | undefined>>): Colours {
  const { NO_COLOR: no = '', FORCE_COLOR: force = '', TERM: terminal } = env;
  if (no !== '') return noColours;
  if (force !== '') return pc.createColors(force !== '0' && force !== 'false');
  return pc.createColors(isTTY === true && terminal !== 'dumb');
}
