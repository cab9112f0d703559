/** The problems of a configuration for a terminal: each with the lines of the file. */
import { problemsText, type LocatedProblem, type Place } from '../config/report.js';
import { ChangefeedError } from '../kit/errors.js';
import { cut, widthOf } from './text.js';

export function configReport(error: unknown, columns = 100): string | undefined {
  if (!(error instanceof ChangefeedError)) return undefined;
  const { source, problems } = error.facts;
  if (typeof source !== 'string' || !Array.isArray(problems)) return undefined;
  return problemsText(source, problems as LocatedProblem[], (place) => codeFrame(place, columns));
}

/** Undefined where the problem is further right than the terminal is wide: its line and column are enough then. */
function codeFrame({ line, column = 1, lines = [] }: Place, columns: number): string | undefined {
  const digits = String(line).length;
  const margin = `    ${' '.repeat(digits)} | `;
  const width = columns - margin.length;
  const before = (lines.at(-1) ?? '').slice(0, column - 1);
  if (lines.length === 0 || widthOf(before) >= width - 1) return undefined;
  const shown = lines.map((content, index) => {
    const number = line - lines.length + 1 + index;
    return `  ${number === line ? '>' : ' '} ${String(number).padStart(digits)} | ${cut(content, width)}`.trimEnd();
  });
  // A tab takes as many columns as the one above it, a Korean character two.
  const gap = before.replace(/[^\t]+/g, (text) => ' '.repeat(widthOf(text)));
  return [...shown, `${margin}${gap}^`].join('\n');
}
