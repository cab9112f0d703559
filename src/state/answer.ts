/** Scripts answer in words; one place turns an answer nobody expected into an error. */
import { ChangefeedError, describe } from '../errors.js';
import type { Script } from './scripts.js';

export function words(script: Script, answer: unknown): [word: string, ...rest: string[]] {
  if (Array.isArray(answer) && answer.length > 0) {
    const [word, ...rest] = answer.map(String);
    if (word !== undefined) return [word, ...rest];
  }
  throw unexpectedAnswer(script, describe(answer));
}

export function unexpectedAnswer(script: Script, found: string): ChangefeedError {
  return new ChangefeedError('CF_INTERNAL', {
    script: script.name,
    message: `Script "${script.name}" answered ${found}, which its caller does not know. Run one release of Changefeed against one Redis.`,
  });
}
