/** Makes the text of a problem from its facts: in English for the log, and in the language of the person to whom it is shown. Pure. */
import { formatDuration } from '../kit/duration.js';
import type { Formats } from './format.js';
import { said as inWords } from './said.js';
import { filled, textOf } from './words.js';

/**
 * The names and numbers of a problem. `text` names its text where the kind has several; the value of another one may name a part of the
 * text. A name that ends with `Ms` is a duration. `called` is what people call `name`.
 */
export type Facts = Readonly<Record<string, string | number>>;

export interface Told {
  kind: string;
  message: string;
  facts?: Facts | undefined;
}

type FormatsOfFacts = Pick<Formats, 'language' | 'duration' | 'number' | 'dateTime'>;

const AS_STORED: FormatsOfFacts = {
  language: 'en',
  duration: formatDuration,
  number: String,
  dateTime: String,
};
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** The message that the log and the event have. */
export function englishMessage(kind: string, facts: Facts): string {
  return said(keyOf(kind, facts), facts, AS_STORED) ?? '';
}

/**
 * The text in the language of `formats`; the English message where it has no facts.
 * @param options.hasButtons what to do can be done where the text is shown, and needs no command
 */
export function problemText({ kind, message, facts }: Told, formats: Formats, { hasButtons = false } = {}): string {
  if (facts === undefined) return message;
  const key = keyOf(kind, facts);
  return (hasButtons ? said(`${key}.page`, facts, formats) : undefined) ?? said(key, facts, formats) ?? message;
}

/** Says what is held, and why: `{>held}` of the problem. */
export function textOfHeld(facts: Facts, formats: FormatsOfFacts = AS_STORED): string {
  return said(String(facts['held']), facts, formats) ?? '';
}

const keyOf = (kind: string, { text = kind }: Facts): string => `says.${text}`;

function said(key: string, facts: Facts, formats: FormatsOfFacts): string | undefined {
  const text = (name: string | number | undefined): string | undefined => textOf(formats.language, String(name));
  const whole = text(key)?.replace(/\{>(\w+)\}/g, (_, name: string) => text(facts[name]) ?? '');
  const { list = '', called = facts['name'] ?? '' } = facts;
  const listName = text(`list.${list}`) ?? String(list);
  const values = Object.entries({ ...facts, listName, called }).map(([name, fact]) => [
    name,
    shown(name, fact, formats),
  ]);
  return whole && filled(whole, Object.fromEntries(values) as Readonly<Record<string, string>>);
}

function shown(name: string, fact: string | number, { language, duration, number, dateTime }: FormatsOfFacts): string {
  if (typeof fact === 'number') return name.endsWith('Ms') ? duration(fact) : number(fact);
  if (TIME.test(fact)) return dateTime(fact);
  return name === 'error' || name === 'reason' ? inWords(fact, language) : fact;
}
