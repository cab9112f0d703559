/** An event as a line a person can read: what changed, from what to what. */
import type { ChangeEvent, FieldChange } from '../events/types.js';
import { type Colours, printable, widthOf } from './text.js';

/** The fields that tell a person which record this is, in this order. */
const TITLE_FIELDS = ['이름', '제목', '내용', 'text', 'fieldName', 'type'] as const;
/** Steps from the longest to the shortest form of a line: number of changes, and columns for each value. */
const FITS = [
  { changes: 4, places: 36 },
  { changes: 3, places: 36 },
  { changes: 2, places: 36 },
  { changes: 2, places: 24 },
  { changes: 1, places: 36 },
  { changes: 1, places: 20 },
  { changes: 1, places: 10 },
] as const;
type Fit = (typeof FITS)[number];
const SMALLEST: Fit = FITS[6];

const VERB_COLOURS: Readonly<Record<string, 'green' | 'cyan' | 'red' | 'dim'>> = {
  created: 'green',
  updated: 'cyan',
  deleted: 'red',
  snapshot: 'dim',
};

export interface LineStyle {
  colours: Colours;
  /** The line is shortened to this width. @defaultValue no limit */
  columns?: number | undefined;
}

/** `12:03:11  todo updated  전화하기  완료: false → true`, in the local time of this machine. */
export function eventLine(event: ChangeEvent, { colours, columns = Infinity }: LineStyle): string {
  const [, object = '', verb = ''] = event.type.split('.');
  const colour = colours[VERB_COLOURS[verb] ?? 'magenta'];
  const what = `${object.padEnd(15)} ${colour(verb.padEnd(8))}`;
  const time = colours.dim(clockTime(event.data.observedAt));
  const line = (fit: Fit): string =>
    [time, what, titleOf(event, fit, colours), dueText(event, colours), changesText(event.data.changes, fit, colours)]
      .filter((part) => part !== '')
      .join('  ');
  return line(FITS.find((fit) => widthOf(line(fit)) <= columns) ?? SMALLEST);
}

function dueText({ data: { due, late } }: ChangeEvent, { dim }: Colours): string {
  if (due === undefined) return '';
  // This locale writes a day as the API does. Local time, like the time at the beginning of the line.
  return `${dim('due:')} ${new Date(due).toLocaleDateString('sv-SE')} ${clockTime(due)}${late === true ? ', late' : ''}`;
}

function clockTime(iso: string): string {
  const at = new Date(iso);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

function titleOf({ data }: ChangeEvent, { places }: Fit, { bold }: Colours): string {
  const record = data.after ?? data.before;
  if (record === null) return '';
  const field = TITLE_FIELDS.find((name) => typeof record[name] === 'string' && record[name] !== '') ?? 'id';
  return bold(formatValue(record[field], places));
}

/** Two long texts with the same beginning are shown from their first difference: cut at the end, they would be equal. */
function difference(before: unknown, after: unknown, places: number): string {
  const [old, now] = [formatValue(before, places), formatValue(after, places)];
  if (old !== now || typeof before !== 'string' || typeof after !== 'string') return `${old} → ${now}`;
  const same = Array.from(before).findIndex((character, at) => character !== after[at]);
  const from = Math.max(0, (same === -1 ? before.length : same) - 4);
  return `${formatValue(`…${before.slice(from)}`, places)} → ${formatValue(`…${after.slice(from)}`, places)}`;
}

function changesText(changes: readonly FieldChange[], fit: Fit, { dim }: Colours): string {
  const { places } = fit;
  const shown = changes.slice(0, fit.changes).map(({ field, before, after }) => {
    return `${dim(`${printable(field)}:`)} ${difference(before, after, places)}`;
  });
  const more = changes.length - shown.length;
  return [...shown, ...(more > 0 ? [dim(`and ${more} more`)] : [])].join(dim(' · '));
}

function formatValue(value: unknown, places: number): string {
  return cut(printable(valueText(value)), places);
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '—';
  if (typeof value === 'string') return value === '' ? '""' : value;
  if (Array.isArray(value)) return value.length === 0 ? '—' : value.map(valueText).join(', ');
  if (typeof value === 'object' && 'name' in value && typeof value.name === 'string') return value.name;
  return JSON.stringify(value);
}

function cut(text: string, places: number): string {
  if (widthOf(text) <= places) return text;
  let left = places - 1;
  let kept = '';
  for (const { segment } of new Intl.Segmenter('ko').segment(text)) {
    left -= widthOf(segment);
    if (left < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}
