/** The lines of a configuration around a problem, for a person to see. Values that may be secrets are covered. */
import stringWidth from 'fast-string-truncated-width';
import type { Position, Range } from './syntax.js';

const LINES_BEFORE = 2;
const LONGEST_LINE = 100;
const COLUMNS_BEFORE = 40;
const COLUMNS_AFTER = 20;
const COVER = '•';

export function codeFrame(text: string, { line, column }: Position, secrets: readonly Range[]): string {
  const all = covered(text, secrets).split(/\r?\n/);
  const digits = String(line).length;
  // A long line is shown from a little before the problem, and alone.
  const from = column > LONGEST_LINE - COLUMNS_AFTER ? column - COLUMNS_BEFORE : 1;
  const first = from > 1 ? line : Math.max(1, line - LINES_BEFORE);
  const shown = all.slice(first - 1, line).map((content, index) => {
    const number = first + index;
    const mark = number === line ? '>' : ' ';
    return `  ${mark} ${String(number).padStart(digits)} | ${window(content, from)}`.trimEnd();
  });
  const before = window(all[line - 1] ?? '', from).slice(0, column - from);
  // A tab takes as many columns as the one above it, a Korean character two.
  const gap = before.includes('\t') ? before.replace(/[^\t]/g, ' ') : ' '.repeat(stringWidth(before).width);
  return [...shown, `    ${' '.repeat(digits)} | ${gap}^`].join('\n');
}

/** Each character of a secret but its quotation marks becomes a dot, so that columns stay the same. */
function covered(text: string, secrets: readonly Range[]): string {
  return secrets.reduce((result, { start, end }) => {
    const inside = result.slice(start, end).replace(/[^'"`\n\r]/g, COVER);
    return result.slice(0, start) + inside + result.slice(end);
  }, text);
}

function window(line: string, from: number): string {
  const shown = `${from > 1 ? '…' : ''}${line.slice(from > 1 ? from : 0)}`;
  return shown.length <= LONGEST_LINE ? shown : `${shown.slice(0, LONGEST_LINE - 1)}…`;
}
