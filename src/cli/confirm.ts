/** Asks before something is removed. */
import { usage } from './arguments.js';
import type { Io } from './io.js';

export interface Question {
  /** The command, for the message of a usage error. */
  command: string;
  /** What would happen, as a sentence without its full stop. */
  what: string;
  /** The flag `--yes`. */
  yes: boolean;
}

/** @throws ChangefeedError CF_USAGE without a terminal to ask on, unless `yes` */
export async function isConfirmed({ command, what, yes }: Question, io: Io): Promise<boolean> {
  if (yes) return true;
  if (io.ask === undefined) throw usage(`${command}: ${what}. Without a terminal, confirm it with --yes.`);
  const isYes = /^y(es)?$/i.test((await io.ask(`${what}.\nContinue? [y/N] `)).trim());
  if (!isYes) io.err('Nothing was changed.');
  return isYes;
}
