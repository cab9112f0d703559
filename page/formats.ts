/** Numbers, times and durations as a person reads them on the page. */
import { formatsFor } from '../src/words/format.js';
import type { Language, Values, WordKey } from '../src/words/words.js';
import type { ValueView } from './api.js';
import type { texts } from './texts.js';

export type { Language } from '../src/words/words.js';
export { filled } from '../src/words/words.js';
export type Translate = (key: keyof typeof texts | WordKey, values?: Values) => string;

const TIME = /(?<=^|: )\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

export type Formats = ReturnType<typeof formats>;

const KOREAN_TYPES: Readonly<Record<string, string>> = {
  absent: '필드 없음',
  null: '빈 값',
  boolean: '참/거짓',
  number: '숫자',
  string: '텍스트',
  timestamp: '시각',
  'timestamp to the minute': '시각(분 단위)',
  'empty list': '빈 목록',
  list: '목록',
  object: '객체',
};

function koreanType(type: string): string {
  const [, item] = /^list of (.*)$/s.exec(type) ?? [];
  return item === undefined ? (KOREAN_TYPES[type] ?? type) : `목록: ${koreanType(item)}`;
}

/** What is shown again and again does not flicker: the longer, the rounder. */
function rounded(ms: number): number {
  const [, step] = [
    [10_000, 100],
    [600_000, 1_000],
    [36_000_000, 60_000],
    [864_000_000, 3_600_000],
  ].find(([below = 0]) => ms < below) ?? [0, 86_400_000];
  return Math.floor(Math.max(0, ms) / (step ?? 1)) * (step ?? 1);
}

/** A text of megabytes would make the browser slow. */
const MOST_CHARACTERS = 2_000;

function shortened(text: string | null): string | null {
  return text !== null && text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

export function formats(language: Language, t: Translate) {
  const inZone = (timeZone?: string) => formatsFor({ language, timeZone, now: new Date().toISOString() });
  const { number, percent, duration: exact, date, value: written } = inZone();
  const duration = (ms: number): string => exact(rounded(ms));
  /** Has the year when it is another one; in the browser's time zone, unless another is given. */
  const dateTime = (iso: string, timeZone?: string): string => inZone(timeZone).dateTime(iso);
  /** Writes each time of the API in a text as a person reads it: a value, or the end of `마감 날짜: 2026-…`. */
  const times = (text: string): string =>
    text.replace(TIME, (iso) => (Number.isNaN(Date.parse(iso)) ? iso : dateTime(iso)));
  return {
    ...{ number, percent, duration, dateTime, times },
    /** A value of a record; null where there is none. */
    valueText: ({ text, type, cut }: ValueView): string | null => {
      if (text === null) return null;
      if (type === 'boolean') return written(text === 'true');
      return type === 'number' && !cut ? written(Number(text)) : times(text);
    },
    /** A value as it is stored. */
    viewOf: (value: unknown): ValueView => ({ text: shortened(written(value)), type: 'text', cut: false }),
    /** `14:03:11`, with the day when it is another one. */
    clock: (iso: string): string => {
      const at = new Date(iso);
      const time = at.toTimeString().slice(0, 8);
      return at.toDateString() === new Date().toDateString() ? time : `${date(iso)} ${time}`;
    },
    /** `timestamp`, `list of {id, name}`: the type of a value. */
    valueType: (type: string): string => (language === 'ko' ? koreanType(type) : type),
    /** How long an answer took, in ms below a second. */
    took: (ms: number): string => (ms < 1_000 ? `${number(Math.round(ms))} ms` : duration(ms)),
    ago: (iso: string, nowMs: number): string => {
      const ms = nowMs - Date.parse(iso);
      return ms < 1_500 ? t('time.now') : t('time.ago', { time: duration(ms) });
    },
  };
}
