/** Words by language, with their `{name}`s replaced. Pure. */
import { en, ko, type WordKey } from './texts.js';

export type { WordKey } from './texts.js';
export const LANGUAGES = ['ko', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

const LISTS: Readonly<Record<Language, Readonly<Record<string, string>>>> = { en, ko };

export type Values = Readonly<Record<string, string | number>>;

export type Words = ReturnType<typeof makeWords>;

const MADE = new Map<Language, Words>();

export function wordsFor(language: Language): Words {
  const words = MADE.get(language) ?? makeWords(language);
  MADE.set(language, words);
  return words;
}

/** Undefined for a key that the list does not have. */
export function textOf(language: Language, key: string): string | undefined {
  return Object.hasOwn(LISTS[language], key) ? LISTS[language][key] : undefined;
}

type Group = 'verb' | 'object' | 'list' | 'actor' | 'machine' | 'problem' | 'part' | 'place' | 'outcome' | 'counted';

function makeWords(language: Language) {
  const numbers = new Intl.NumberFormat(language);
  const found = (key: string): string | undefined => textOf(language, key);
  /** The word for a name that the list may know: `verb`, `created`. Otherwise the name itself, without `_`. */
  const word = (group: Group, name: string): string => found(`${group}.${name}`) ?? name.replace(/[._]/g, ' ');
  return {
    /** The text of a key, with the values in it. */
    t: (key: WordKey, values: Values = {}): string => filled(found(key) ?? key, values),
    word,
    /** How many records of an object: `3 todos`, `고객 3명`. */
    countOf: (object: string, number: number): string => {
      const text = found(`count.${object}`) ?? `${word('object', object)}: {count}`;
      return filled(text, { count: numbers.format(number) });
    },
  };
}

/** `{name}` is replaced; `{count|event|events}` is the first for one and the second for other counts; `{s}` is the plural of a `{count}`. */
export function filled(text: string, values: Values): string {
  const isOne = (name: string): boolean => String(values[name]) === '1';
  const all: Values = { s: isOne('count') ? '' : 's', ...values };
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}/g, (_, name: string, one?: string, many?: string) =>
    one === undefined ? String(all[name] ?? '') : ((isOne(name) ? one : many) ?? ''),
  );
}
