/** The lines of a configuration around a problem, for a person to see. Values that may be secrets are covered. */
import stringWidth from 'fast-string-truncated-width';
import type { Position, Range } from './syntax.js';

const LINES_BEFORE = 2;
/** Where there is no terminal. */
const LONGEST_LINE = 100;
/** A line is not cut shorter, however narrow the terminal is. */
const SHORTEST_LINE = 20;
const SEGMENTER = new Intl.Segmenter('ko');
const COVER = '•';

export interface FrameOptions {
  secrets: readonly Range[];
  /** Width of the terminal. @defaultValue 100 columns of each line */
  columns?: number | undefined;
}

export function codeFrame(text: string, { line, column }: Position, { secrets, columns }: FrameOptions): string {
  const all = covered(text, secrets).split(/\r?\n/);
  const digits = String(line).length;
  const margin = `    ${' '.repeat(digits)} | `.length;
  const longest = columns === undefined ? LONGEST_LINE : Math.max(SHORTEST_LINE, columns - margin);
  const from = startOf(all[line - 1] ?? '', column, longest);
  // A long line is shown from a little before the problem, and alone.
  const first = from > 1 ? line : Math.max(1, line - LINES_BEFORE);
  const shown = all.slice(first - 1, line).map((content, index) => {
    const number = first + index;
    const mark = number === line ? '>' : ' ';
    return `  ${mark} ${String(number).padStart(digits)} | ${window(content, from, longest)}`.trimEnd();
  });
  const before = window(all[line - 1] ?? '', from, Infinity).slice(0, column - from);
  // A tab takes as many columns as the one above it, a Korean character two.
  const gap = before.includes('\t') ? before.replace(/[^\t]/g, ' ') : ' '.repeat(widthOf(before));
  return [...shown, `    ${' '.repeat(digits)} | ${gap}^`].join('\n');
}

/** The column from which a line is shown, so that a fifth of the room is left behind the problem. */
function startOf(line: string, column: number, longest: number): number {
  const before = line.slice(0, column - 1);
  if (widthOf(before) < longest * 0.8) return 1;
  let left = Math.floor(longest * 0.4);
  let start = column;
  for (const { segment } of [...SEGMENTER.segment(before)].reverse()) {
    left -= widthOf(segment);
    if (left < 0) break;
    start -= segment.length;
  }
  return start;
}

/** Each character of a secret but its quotation marks becomes a dot, so that columns stay the same. */
function covered(text: string, secrets: readonly Range[]): string {
  return secrets.reduce((result, { start, end }) => {
    const inside = result.slice(start, end).replace(/[^'"`\n\r]/g, COVER);
    return result.slice(0, start) + inside + result.slice(end);
  }, text);
}

/** The columns of a line from `from`, at most `longest`; a sign shows where something is left out. */
function window(line: string, from: number, longest: number): string {
  const shown = `${from > 1 ? '…' : ''}${line.slice(from > 1 ? from : 0)}`;
  if (widthOf(shown) <= longest) return shown;
  let left = longest - 1;
  let kept = '';
  for (const { segment } of SEGMENTER.segment(shown)) {
    left -= widthOf(segment);
    if (left < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}

function widthOf(text: string): number {
  return stringWidth(text).width;
}
