/** Reads what a person types as the value of a condition, by the type of the field. Null: it cannot be read. Pure. */
export type Kind = 'text' | 'number' | 'boolean' | 'time' | 'reference' | 'list';
export type Value = string | number | boolean;

export interface Reads {
  kind: Kind;
  /** The time zone of the workspace: a day begins at its midnight. */
  timeZone: string;
}

/** @param name of the operand, such as `becomes` */
export function readValue(text: string, name: string, { kind, timeZone }: Reads): Value | null {
  const typed = text.normalize('NFC').trim();
  if (name === 'by') return readShare(typed);
  if (name === 'inNext' || name === 'ago') return /^[1-9]\d{0,3}$/.test(typed) ? `${typed}d` : null;
  if (kind === 'time' && (name === 'gte' || name === 'lt')) return readDay(typed, timeZone);
  if (kind === 'number' || name === 'gte' || name === 'lte') return readNumber(typed);
  if (kind === 'boolean') return typed === 'true' ? true : typed === 'false' ? false : null;
  return typed === '' ? null : typed;
}

/** A value as it is edited; a day without its midnight, days without their unit. */
export function writtenValue(value: unknown): string {
  if (typeof value === 'string') return DAYS.exec(value)?.[1] ?? DAY.exec(value)?.[1] ?? value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

export const DAY = /^(\d{4}-\d\d-\d\d)T00:00:00[+-]\d\d:\d\d$/;
export const DAYS = /^(\d{1,4})d$/;

const PLAIN = /^\d+(?:\.\d+)?$|^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
const LARGE = { 조: 1e12, 억: 1e8, 만: 1e4, '': 1 } as const;
const SMALL = { 천: 1e3, 백: 1e2, 십: 10, '': 1 } as const;

/** `1,000,000`, `-3`, `12.5`, `1천만`, `1억 5천만 원`. */
function readNumber(typed: string): number | null {
  const [, sign = '', digits = ''] = /^([-−+]?)(.+?)(?:\s*원)?$/.exec(typed.normalize('NFKC')) ?? [];
  const amount = sumOf(digits.replace(/\s+/g, ''), LARGE, (part) => sumOf(part, SMALL, plainNumber));
  // A larger one is not kept to the digit.
  if (amount === null || amount > Number.MAX_SAFE_INTEGER) return null;
  return /[-−]/.test(sign) && amount !== 0 ? -amount : amount;
}

function plainNumber(text: string): number | null {
  return PLAIN.test(text) ? Number(text.replaceAll(',', '')) : null;
}

/** Each unit once, the largest first. A unit without a number is one of it. */
function sumOf(
  text: string,
  units: Readonly<Record<string, number>>,
  read: (part: string) => number | null,
): number | null {
  let [rest, sum] = [text, 0];
  if (rest === '') return null;
  for (const [unit, times] of Object.entries(units)) {
    const at = unit === '' ? rest.length : rest.indexOf(unit);
    if (at < 0 || (unit === '' && rest === '')) continue;
    const part = rest.slice(0, at);
    const count = part === '' ? 1 : read(part);
    if (count === null) return null;
    sum += count * times;
    rest = rest.slice(at + unit.length);
  }
  // 1.1억 is no fraction.
  return Number(sum.toPrecision(15));
}

function readShare(typed: string): number | string | null {
  const [, share] = /^(\d+(?:\.\d+)?)\s*%$/.exec(typed) ?? [];
  if (share !== undefined) return Number(share) > 0 ? `${share}%` : null;
  const amount = readNumber(typed);
  return amount !== null && amount > 0 ? amount : null;
}

/** The midnight with which a day begins there, such as `2026-12-01T00:00:00+09:00`. */
function readDay(typed: string, timeZone: string): string | null {
  const noon = new Date(`${typed}T12:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(typed) || Number.isNaN(noon.getTime())) return null;
  const offsetAt = (at: Date): string => {
    const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(at);
    const offset = parts.find(({ type }) => type === 'timeZoneName')?.value.replace('GMT', '') ?? '';
    return offset === '' ? '+00:00' : offset;
  };
  // The clock may be set on that day: the offset is that of its first minute.
  const near = new Date(`${typed}T00:00:00${offsetAt(noon)}`);
  return `${typed}T00:00:00${offsetAt(near)}`;
}
