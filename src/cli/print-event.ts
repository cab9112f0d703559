/** An event as a line a person can read: what changed, from what to what. */
import pc from 'picocolors';
import type { ChangeEvent, CrmRecord, FieldChange } from '../events/types.js';

/** The fields that tell a person which record this is, in this order. */
const TITLE_FIELDS = ['이름', '제목', '내용', 'text', 'fieldName', 'type'] as const;
const LONGEST_VALUE = 36;
const MOST_CHANGES = 4;

const VERB_COLOURS: Readonly<Record<string, (text: string) => string>> = {
  created: pc.green,
  updated: pc.cyan,
  deleted: pc.red,
  snapshot: pc.dim,
};

/** `12:03:11  todo updated  "전화하기"  완료: false → true` */
export function eventLine(event: ChangeEvent): string {
  const [, object = '', verb = ''] = event.type.split('.');
  const colour = VERB_COLOURS[verb] ?? pc.magenta;
  const what = `${object.padEnd(15)} ${colour(verb.padEnd(8))}`;
  const title = titleOf(event.data.after ?? event.data.before);
  const time = pc.dim(event.data.observedAt.slice(11, 19));
  return [time, what, title, changesText(event.data.changes)].filter((part) => part !== '').join('  ');
}

function titleOf(record: CrmRecord | null): string {
  if (record === null) return '';
  const field = TITLE_FIELDS.find((name) => typeof record[name] === 'string' && record[name] !== '');
  return pc.bold(field === undefined ? record.id : formatValue(record[field]));
}

function changesText(changes: readonly FieldChange[]): string {
  const shown = changes.slice(0, MOST_CHANGES).map(({ field, before, after }) => {
    return `${pc.dim(`${printable(field)}:`)} ${formatValue(before)} → ${formatValue(after)}`;
  });
  const more = changes.length - shown.length;
  return [...shown, ...(more > 0 ? [pc.dim(`and ${more} more`)] : [])].join(pc.dim(' · '));
}

export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '—';
  if (typeof value === 'string') return value === '' ? '""' : shorten(printable(value));
  if (Array.isArray(value)) return value.length === 0 ? '—' : shorten(value.map(formatValue).join(', '));
  if (typeof value === 'object') {
    const { name } = value as { name?: unknown };
    return typeof name === 'string' ? shorten(printable(name)) : shorten(printable(JSON.stringify(value)));
  }
  return JSON.stringify(value);
}

/** Records hold what anybody typed: control characters could drive the terminal. */
function printable(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(/\p{C}/gu, '');
}

function shorten(text: string): string {
  const characters = Array.from(new Intl.Segmenter('ko').segment(text), ({ segment }) => segment);
  return characters.length <= LONGEST_VALUE ? text : `${characters.slice(0, LONGEST_VALUE - 1).join('')}…`;
}
