/** The error that lists all problems of a configuration, one per line. */
import { ChangefeedError } from '../errors.js';

/**
 * @param source the file, or "the environment"
 * @param problems sentences; at least one
 */
export function invalidConfig(source: string, problems: readonly string[]): ChangefeedError {
  const message =
    problems.length === 1
      ? `${source}: ${problems[0] ?? ''}`
      : `${source}: ${problems.length} problems:\n${problems.map((problem) => `  ${problem}`).join('\n')}`;
  return new ChangefeedError('CF_CONFIG_INVALID', { message, source, problems });
}
