/** Problems of a configuration, said one per line: where, what was found, what is allowed; never a secret. */
import { ChangefeedError } from '../errors.js';

/**
 * @param source the file, or "the environment"
 * @param problems sentences; at least one
 */
export function invalidConfig(source: string, problems: readonly string[]): ChangefeedError {
  const message =
    problems.length === 1
      ? `${source}: ${problems[0] ?? ''}`
      : `${source}: ${problems.length} things to mend:\n${problems.map((problem) => `  ${problem}`).join('\n')}`;
  return new ChangefeedError('CF_CONFIG_INVALID', { message, source, problems });
}
