/** How a failed command line is told: one sentence, its code, and a stack only to those who asked for it. */
import type { CommanderError } from 'commander';
import { ChangefeedError, messageOf } from '../errors.js';
import type { Io } from './io.js';

export function errorText(error: unknown, { env }: Pick<Io, 'env'>): string {
  const code = error instanceof ChangefeedError ? ` [${error.code}]` : '';
  const stack = env['LOG_LEVEL'] === 'debug' && error instanceof Error ? `\n${error.stack ?? ''}` : '';
  return `changefeed: ${messageOf(error)}${code}${stack}`;
}

/** Commander's words (`error: unknown command 'swep'` and, on a line of its own, `(Did you mean sweep?)`) in our form. */
export function usageText({ message }: CommanderError): string {
  const [first = '', ...more] = message.replace(/^error: /, '').split('\n');
  const hints = more.map((hint) => hint.trim().replace(/^\(Did/, '(did')).filter((hint) => hint !== '');
  return `changefeed: ${[first.replace(/\.$/, ''), ...hints].join(' ')}. "changefeed --help" lists what there is. [CF_USAGE]`;
}
