/** The problems of a configuration with their places, and the error that lists them. */
import { ChangefeedError, type ErrorCode } from '../kit/errors.js';
import { sentenceOf, type ConfigProblem } from '../kit/schema/problem.js';

export interface Place {
  /** Relative to the working directory. */
  file: string;
  /** From 1. */
  line: number;
  column?: number;
  /** The lines of the file up to this one, the values in them covered. */
  lines?: readonly string[];
}

export interface LocatedProblem extends ConfigProblem {
  place?: Place | undefined;
}

export function configError(
  source: string,
  problems: readonly LocatedProblem[],
  { code = 'CF_CONFIG_INVALID', cause }: { code?: ErrorCode; cause?: unknown } = {},
): ChangefeedError {
  return new ChangefeedError(code, { message: problemsText(source, problems), source, problems, cause });
}

export function problemsText(
  source: string,
  problems: readonly LocatedProblem[],
  frameOf: (place: Place) => string | undefined = () => undefined,
): string {
  const isOne = problems.length === 1;
  const lines = problems.flatMap((problem) => {
    const { place } = problem;
    const where =
      place === undefined
        ? [isOne ? source : undefined]
        : [[place.file, place.line, place.column].filter((part) => part !== undefined).join(':')];
    const text = [...where.filter((part) => part !== undefined), sentenceOf(problem)].join(': ');
    const frame = place && frameOf(place);
    return [isOne ? text : `  ${text}`, ...(frame === undefined ? [] : [frame])];
  });
  return (isOne ? lines : [`${source}: ${problems.length} problems:`, ...lines]).join('\n');
}
