/** The lines of a configuration around a problem, for a person to see. Texts and numbers are covered, because any of them may be a secret. */
import stringWidth from 'fast-string-truncated-width';

/** From 1. */
export interface Position {
  line: number;
  column: number;
}

const LINES_BEFORE = 2;
/** Where there is no terminal. */
const LONGEST_LINE = 100;
/** A line is not cut shorter, however narrow the terminal is. */
const SHORTEST_LINE = 20;
const SEGMENTER = new Intl.Segmenter('ko');
const COVER = '•';

/** @param columns the width of the terminal; undefined: 100 columns of each line */
export function codeFrame(text: string, { line, column }: Position, columns?: number): string {
  const all = covered(text).split(/\r?\n/);
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

// A text in quotation marks; without an end, up to the end of its line.
const TEXT = /"(?:\\.|[^"\\\n])*(?:"|$)|'(?:\\.|[^'\\\n])*(?:'|$)|`(?:\\.|[^`\\])*(?:`|$)/gm;
// A shorter one is no secret.
const NUMBER = /(?<=[:[,]\s*)-?\d[\w.+-]{3,}/g;
const WORD = /[^\s"'`,:;=(){}[\]]+/g;
const AFTER_SECRET_NAME =
  /(?<=(?:token|secret|passw|url|key|auth)[\w"']*\s*[:=]\s*)(?:["'`](?:\\.|[^"'`\\\n])*|[^\s"'`,;{}[\]]+)/gi;

/** Each character becomes a dot, so that columns stay the same. Where a quotation mark is missing, every word but keys is covered. */
function covered(text: string): string {
  const hasAllMarks = (line: string): boolean => (line.replace(/\\./g, '').match(/["'`]/g) ?? []).length % 2 === 0;
  const original = text.split('\n');
  return coverIn(coverIn(coverIn(text, AFTER_SECRET_NAME), TEXT), NUMBER)
    .split('\n')
    .map((line, at) => (hasAllMarks(original[at] ?? '') ? line : coverIn(line, WORD)))
    .join('\n');
}

function coverIn(text: string, part: RegExp): string {
  return text.replace(part, (found, at: number) =>
    /^["']?\s*:/.test(text.slice(at + found.length)) ? found : found.replace(/(?!^["'`])(?!["'`]$)[^\n\r]/g, COVER),
  );
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
