/** Values, times, numbers and durations as a person reads them, by language and time zone. Pure: `now` is an argument. */
import { formatDuration } from '../kit/duration.js';
import { wordsFor, type Language } from './words.js';

export interface FormatStyle {
  language: Language;
  /** IANA name. @defaultValue that of the machine */
  timeZone?: string | undefined;
  /** A date of another year than this has its year; ms or ISO 8601. */
  now: number | string;
}

export type Formats = ReturnType<typeof formatsFor>;

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
const KOREAN_UNITS: Readonly<Record<string, string>> = { s: '초', min: '분', h: '시간', d: '일' };

export function formatsFor({ language, timeZone, now }: FormatStyle) {
  const { t } = wordsFor(language);
  const { numbers, values, percents } = numbersOf(language);
  const parts = partsIn(timeZone, language);
  const dayText = (at: Parts): string => dayOf(at, language, at.year !== parts(now).year);
  const date = (at: string | number): string => dayText(parts(at));
  const time = (at: string | number): string => `${parts(at).hour}:${parts(at).minute}`;
  const dateTime = (at: string | number): string => `${date(at)}${language === 'ko' ? '' : ','} ${time(at)}`;
  const text = (given: string): string => {
    // A date has no zone: it is the same day everywhere.
    if (DAY.test(given) && isTime(given)) return dayText(partsIn('UTC', language)(given));
    const zoned = /T.*(Z|[+-]\d\d:?\d\d)$/.test(given) ? given : `${given}Z`;
    return INSTANT.test(given) && isTime(zoned) ? dateTime(zoned) : given;
  };
  const value = (given: unknown): string | null => {
    if (given === null || given === undefined || given === '') return null;
    if (typeof given === 'string') return text(given);
    if (typeof given === 'boolean') return t(given ? 'value.yes' : 'value.no');
    if (typeof given === 'number') return values.format(given);
    if (Array.isArray(given)) return given.length === 0 ? null : given.map((one) => value(one) ?? '—').join(', ');
    return nameIn(given) ?? JSON.stringify(given);
  };
  const duration = (ms: number): string => {
    if (language === 'en') return formatDuration(ms);
    const text = ms < 1_000 ? `${(ms / 1_000).toFixed(1)} s` : formatDuration(ms);
    return text.replace(/ (s|min|h|d)\b/g, (_, unit: string) => KOREAN_UNITS[unit] ?? unit);
  };
  return {
    language,
    /** `12,345`. */
    number: (count: number) => numbers.format(count),
    /** `83%`. */
    percent: (share: number) => percents.format(share),
    /** `Fri 21 Nov, 13:22` and `11월 21일 (금) 13:22`. */
    dateTime,
    /** `Fri 21 Nov` and `11월 21일 (금)`. */
    date,
    /** `13:22`. */
    time,
    /** `3 min 20 s` and `3분 20초`. */
    duration,
    /** A value of a record; null where there is none. A reference by its name, another object as JSON. */
    value,
  };
}

/** The name in a reference such as `{ id, name }`; undefined for other values. */
export function nameIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('name' in value)) return undefined;
  return typeof value.name === 'string' && value.name !== '' ? value.name : undefined;
}

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}

/** Makers of texts are slow to make, and there are few of them. */
const made = new Map<string, unknown>();
function once<Made>(key: string, make: () => Made): Made {
  if (!made.has(key)) made.set(key, make());
  return made.get(key) as Made;
}

function numbersOf(language: Language) {
  return once(language, () => ({
    numbers: new Intl.NumberFormat(language, { maximumFractionDigits: 10 }),
    // A year or a code of four digits is no number to group.
    values: new Intl.NumberFormat(language, { useGrouping: 'min2', maximumFractionDigits: 10 }),
    percents: new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 }),
  }));
}

type Parts = Readonly<Partial<Record<Intl.DateTimeFormatPartTypes, string>>>;

function partsIn(timeZone: string | undefined, language: Language): (at: string | number) => Parts {
  const format = once(`${language} ${timeZone}`, () => {
    const day = { year: 'numeric', month: 'short', day: 'numeric', weekday: 'short' } as const;
    const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    return new Intl.DateTimeFormat(language, { ...day, ...time, timeZone });
  });
  return (at) => Object.fromEntries(format.formatToParts(new Date(at)).map(({ type, value }) => [type, value]));
}

function dayOf({ year, month, day, weekday }: Parts, language: Language, hasYear: boolean): string {
  if (language === 'ko') return `${hasYear ? `${year}년 ` : ''}${month} ${day}일 (${weekday})`;
  return `${weekday} ${day} ${month}${hasYear ? ` ${year}` : ''}`;
}
