/** Language and appearance: what the browser says, until a person chooses. */
import { createContext, type ComponentChildren } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { fieldLabel } from '../src/words/field-label.js';
import { said } from '../src/words/said.js';
import { textOf } from '../src/words/words.js';
import { speak } from './api.js';
import { texts } from './texts.js';
import { filled, formats, type Formats, type Language, type Translate } from './formats.js';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

interface Preferences extends Formats {
  language: Language;
  setLanguage: (language: Language) => void;
  theme: Theme;
  setTheme: (theme: Theme) => void;
  t: Translate;
  /** The word for a name that the texts may know: `verb.created`. Otherwise the name itself. */
  word: (
    group:
      | 'verb'
      | 'object'
      | 'list'
      | 'actor'
      | 'machine'
      | 'problem'
      | 'part'
      | 'outcome'
      | 'reason'
      | 'handler'
      | 'did'
      | 'audit.outcome'
      | 'rules.did'
      | 'role',
    name: string,
  ) => string;
  /** What a person calls a field: `peopleId` is `고객`. */
  label: (field: string) => string;
  /** A sentence that the service has stored or sent in English. */
  said: (text: string) => string;
  /** `person updated`, for an event type, or a pattern of them. */
  kind: (type: string) => string;
}

const OF_THE_FEED = 'changefeed.';

const Context = createContext<Preferences | null>(null);

export function PreferencesProvider({ children }: { children: ComponentChildren }) {
  const [language, setLanguage] = useStored<Language>('language', ['en', 'ko'], browserLanguage());
  const [theme, setTheme] = useStored<Theme>('theme', THEMES, 'auto');
  useEffect(() => {
    document.documentElement.lang = language;
    speak(language);
  }, [language]);
  useEffect(() => {
    if (theme === 'auto') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  const value = useMemo((): Preferences => {
    const own: Readonly<Record<string, readonly [string, string]>> = texts;
    const found = (key: string): string | undefined =>
      Object.hasOwn(own, key) ? own[key]?.[language === 'ko' ? 1 : 0] : textOf(language, key);
    const t: Translate = (key, values = {}) => filled(found(key) ?? key, values);
    const word: Preferences['word'] = (group, name) => found(`${group}.${name}`) ?? name;
    const kind = (type: string): string => {
      const ofFeed = type.startsWith(OF_THE_FEED) ? found(`problem.${type.slice(OF_THE_FEED.length)}`) : undefined;
      if (ofFeed !== undefined) return ofFeed;
      const [, object = '', verb = ''] = type.split('.');
      return `${word('object', object)} ${word('verb', verb)}`.trim();
    };
    const inWords = (text: string): string => said(text, language);
    const label = (field: string): string => fieldLabel(language, field);
    return { language, setLanguage, theme, setTheme, t, word, label, said: inWords, kind, ...formats(language, t) };
  }, [language, theme]);
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

export function usePreferences(): Preferences {
  const preferences = useContext(Context);
  if (preferences === null) throw new Error('usePreferences needs a PreferencesProvider.');
  return preferences;
}

function browserLanguage(): Language {
  return navigator.language.startsWith('ko') ? 'ko' : 'en';
}

function useStored<Value extends string>(
  name: string,
  allowed: readonly Value[],
  initial: Value,
): [Value, (value: Value) => void] {
  const key = `changefeed.${name}`;
  const [value, setValue] = useState<Value>(() => allowed.find((one) => one === stored(key)) ?? initial);
  return [
    value,
    (next) => {
      try {
        localStorage.setItem(key, next);
      } catch {
        // A browser may keep nothing; the choice then lasts as long as the page.
      }
      setValue(next);
    },
  ];
}

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
