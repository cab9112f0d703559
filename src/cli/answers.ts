/** How a command speaks: its language, sentences or JSON, and the question before something that cannot be undone. */
import type { Config } from '../config/schema.js';
import { usage } from '../kit/errors.js';
import { formatsFor, type Formats } from '../words/format.js';
import { wordsFor, type Language, type Words } from '../words/words.js';
import type { Io } from './io.js';
import { fitted } from './text.js';

export function say(io: Io, text: string): void {
  io.out(fitted(text, io.columns));
}

export function answer(io: Io, json: boolean, data: unknown, text: string): void {
  if (json) io.out(JSON.stringify(data));
  else say(io, text);
}

interface Question {
  command: string;
  /** What the command would do, as the beginning of a sentence. */
  what: string;
  yes: boolean;
  /** @defaultValue English */
  t?: Words['t'];
  /** @defaultValue `Continue? [y/N] ` */
  ask?: string;
  isYes?: (answer: string) => boolean;
}

/** @throws ChangefeedError CF_USAGE without a terminal to ask on, unless `yes` */
export async function isConfirmed(
  { command, what, yes, t = wordsFor('en').t, ask, isYes = (text) => /^y(es)?$/i.test(text) }: Question,
  io: Io,
): Promise<boolean> {
  if (yes) return true;
  if (io.ask === undefined) throw usage(`${command}: ${what}. Without a terminal, confirm it with --yes.`);
  const isAgreed = isYes((await io.ask(`${what}${ask ?? `.\n${t('act.continue')} `}`)).trim());
  if (!isAgreed) io.err(t('act.unchanged'));
  return isAgreed;
}

type Env = Io['env'];

/** The language of the terminal, as the environment names it. */
export function languageOfTerminal(env: Env): Language {
  return /^ko/i.test(env['LC_ALL'] || env['LC_MESSAGES'] || env['LANG'] || '') ? 'ko' : 'en';
}

/** Korean on a Korean terminal, otherwise the language of the workspaces, if they agree. */
export function languageOf({ workspaces }: Config, env: Env): Language {
  const [first = 'en', ...others] = new Set(workspaces.map(({ language }) => language));
  return others.length === 0 && first === 'ko' ? 'ko' : languageOfTerminal(env);
}

/** In the time zone of this machine. @param now of the report: a date of another year has its year */
export function formatsOf(config: Config, env: Env, now: string): Formats {
  return formatsFor({ language: languageOf(config, env), now });
}
