import { usage } from '../kit/errors.js';

import type { Io } from './io.js';

/** @throws ChangefeedError CF_USAGE without a terminal to ask on, unless `yes` */
export async function isConfirmed(
  { command, what, yes }: { command: string; what: string; yes: boolean },
  io: Io,
): Promise<boolean> {
  if (yes) return true;
  if (io.ask === undefined) throw usage(`${command}: ${what}. Without a terminal, confirm it with --yes.`);
  const isYes = /^y(es)?$/i.test((await io.ask(`${what}.\nContinue? [y/N] `)).trim());
  if (!isYes) io.err('Nothing was changed.');
  return isYes;
}
