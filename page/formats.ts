/** Numbers, times and durations as a person reads them. */
import type { TextKey } from './text/en.js';

export type Language = 'en' | 'ko';
export type Translate = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string;

/** `{name}` is replaced; `{s}` is the plural of a `{count}`. */
export function filled(text: string, values: Readonly<Record<string, string | number>>): string {
  const all: typeof values = { s: String(values['count']) === '1' ? '' : 's', ...values };
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(all[name] ?? ''));
}

const TIME = /(?<=^|: )\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

export interface Formats {
  number: (value: number) => string;
  percent: (share: number) => string;
  /** `14:03:11`, with the day when it is another one. */
  clock: (iso: string) => string;
  /** With the year when it is another one; in the browser's time zone, unless another is given. */
  dateTime: (iso: string, timeZone?: string) => string;
  /** With each time of the API in a text as a person reads it: a value, or the end of `마감 날짜: 2026-…`. */
  times: (text: string) => string;
  /** `timestamp`, `list of {id, name}`: the type of a value. */
  valueType: (type: string) => string;
  duration: (ms: number) => string;
  ago: (iso: string, nowMs: number) => string;
}

const DAY_AND_TIME = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

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

const UNITS: readonly [ms: number, en: string, ko: string][] = [
  [86_400_000, 'd', '일'],
  [3_600_000, 'h', '시간'],
  [60_000, 'min', '분'],
  [1_000, 's', '초'],
];

export function formats(language: Language, t: Translate): Formats {
  const locale = language === 'ko' ? 'ko-KR' : 'en-GB';
  const numbers = new Intl.NumberFormat(locale);
  const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 });
  const clocks = new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  const days = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' });
  const daysOfYears = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', day: 'numeric' });
  const day = (at: Date): string => (at.getFullYear() === new Date().getFullYear() ? days : daysOfYears).format(at);
  const clock = (iso: string): string => {
    const at = new Date(iso);
    const time = clocks.format(at);
    return at.toDateString() === new Date().toDateString() ? time : `${day(at)} ${time}`;
  };
  const duration = (ms: number): string => {
    const rest = Math.max(0, ms);
    if (rest < 10_000) return `${numbers.format(Math.round(rest / 100) / 10)}${language === 'ko' ? '초' : ' s'}`;
    const index = UNITS.findIndex(([unit]) => rest >= unit);
    const [unit, english, korean] = UNITS[index] ?? [1_000, 's', '초'];
    const smaller = UNITS[index + 1];
    const whole = Math.floor(rest / unit);
    const part = (count: number, en: string, ko: string): string =>
      language === 'ko' ? `${count}${ko}` : `${count} ${en}`;
    const left = smaller === undefined ? 0 : Math.floor((rest % unit) / smaller[0]);
    const main = part(whole, english, korean);
    return left === 0 || smaller === undefined || whole >= 10 ? main : `${main} ${part(left, smaller[1], smaller[2])}`;
  };
  const dateTime: Formats['dateTime'] = (iso, timeZone) =>
    timeZone === undefined
      ? `${day(new Date(iso))} ${clocks.format(new Date(iso))}`
      : new Intl.DateTimeFormat(locale, { ...DAY_AND_TIME, timeZone }).format(new Date(iso));
  return {
    number: (value) => numbers.format(value),
    percent: (share) => percents.format(share),
    clock,
    dateTime,
    times: (text) => text.replace(TIME, (iso) => (Number.isNaN(Date.parse(iso)) ? iso : dateTime(iso))),
    valueType: (type) => (language === 'ko' ? koreanType(type) : type),
    duration,
    ago(iso, nowMs) {
      const ms = nowMs - Date.parse(iso);
      return ms < 1_500 ? t('time.now') : t('time.ago', { time: duration(ms) });
    },
  };
}
