/** The language of what a command prints for people, and how it writes values: in the time zone of this machine. */
import type { Config } from '../config/schema.js';
import { formatsFor, type Formats } from '../words/format.js';
import type { Language } from '../words/words.js';

/** The language of the workspaces, if they agree. */
export function languageOf({ workspaces }: Pick<Config, 'workspaces'>): Language {
  const [first = 'en', ...others] = new Set(workspaces.map(({ language }) => language));
  return others.length === 0 ? first : 'en';
}

/** @param now of the report: a date of another year has its year */
export function formatsOf(config: Pick<Config, 'workspaces'>, now: string): Formats {
  return formatsFor({ language: languageOf(config), now });
}
