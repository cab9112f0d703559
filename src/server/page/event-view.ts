/** An event as the page shows it: short texts instead of values, so that a record of megabytes costs the page a line. Pure. */
import type { UncheckedRecord } from '../../crm/record.js';
import { workspaceOf } from '../../events/envelope.js';
import type { ChangeData, ChangeEvent, FieldChange, Notice, SchemaChange } from '../../events/types.js';

export interface EventView {
  /** Its place in the log: `acme@1700-0`. */
  position: string;
  id: string;
  workspace: string;
  logId: string;
  type: string;
  /** The second word of the type: `person`. */
  object: string;
  /** The last word: `updated`. */
  verb: string;
  subject: string;
  /** What the record is called; null where it says nothing. */
  title: string | null;
  /** The name of the person or organization that a record without a name of its own belongs to. */
  about: string | null;
  person: { id: string; name: string } | null;
  observedAt: string;
  time: string;
  sequence: number;
  class: ChangeData['class'];
  detectedBy: ChangeData['detectedBy'];
  changes: ChangeView[];
  /** Changes that are not in `changes`. */
  moreChanges: number;
  due: string | null;
  late: boolean;
  notice: Notice | null;
  schema: SchemaChange | null;
}

export interface ChangeView {
  field: string;
  before: ValueView;
  after: ValueView;
}

export interface ValueView {
  /** Null: no value. */
  text: string | null;
  /** The text is only a part of the value. */
  cut: boolean;
}

/** The fields that tell a person which record this is, in this order. */
const TITLE_FIELDS = ['이름', '제목', '내용', 'text', 'fieldName', 'type'] as const;
const OWNER_FIELDS = ['담당자', 'owner'] as const;
const MOST_CHANGES = 20;
const MOST_CHARACTERS = 240;
/** Of two long texts, this many characters before the first difference are shown. */
const CONTEXT = 24;

export function viewOf({ logId, event }: { logId: string; event: ChangeEvent }): EventView {
  const { id, type, subject, time, data } = event;
  const workspace = workspaceOf(event);
  const record = data.after ?? data.before;
  const [, object = '', ...rest] = type.split('.');
  return {
    position: `${workspace}@${logId}`,
    id,
    workspace,
    logId,
    type,
    object,
    verb: rest.join('.'),
    subject,
    title: record === null ? null : titleOf(record),
    about: null,
    person: record === null ? null : personInCharge(record),
    observedAt: data.observedAt,
    time,
    sequence: data.sequence,
    class: data.class,
    detectedBy: data.detectedBy,
    changes: data.changes.slice(0, MOST_CHANGES).map(viewOfChange),
    moreChanges: Math.max(0, data.changes.length - MOST_CHANGES),
    due: data.due ?? null,
    late: data.late === true,
    notice: data.notice ?? null,
    schema: data.schema ?? null,
  };
}

/** Null where the record names no one. Memos and histories name only an id. */
export function personInCharge(record: UncheckedRecord): { id: string; name: string } | null {
  for (const field of OWNER_FIELDS) {
    const value = Object.hasOwn(record, field) ? record[field] : undefined;
    if (typeof value !== 'object' || value === null) continue;
    const { id, name } = value as { id?: unknown; name?: unknown };
    if (typeof id === 'string') return { id, name: readable(typeof name === 'string' ? name : id).slice(0, 200) };
  }
  const id = Object.hasOwn(record, 'ownerId') ? record['ownerId'] : undefined;
  return typeof id === 'string' && id !== '' ? { id, name: id } : null;
}

export function viewOfChange({ field, before, after }: FieldChange): ChangeView {
  const [old, now] = [textOf(before), textOf(after)];
  const from = old !== null && now !== null ? firstDifference(old, now) : 0;
  return { field: readable(field), before: valueView(old, from), after: valueView(now, from) };
}

function titleOf(record: UncheckedRecord): string | null {
  const field = TITLE_FIELDS.find((name) => typeof record[name] === 'string' && record[name] !== '');
  return field === undefined ? null : (valueView(textOf(record[field]), 0).text ?? null);
}

function valueView(text: string | null, from: number): ValueView {
  if (text === null) return { text: null, cut: false };
  // Two long texts with the same beginning are shown from their first difference.
  const start = text.length > MOST_CHARACTERS ? Math.max(0, from - CONTEXT) : 0;
  const part = text.slice(start, start + MOST_CHARACTERS);
  const cut = part.length < text.length;
  return { text: readable(`${start > 0 ? '…' : ''}${part}${start + part.length < text.length ? '…' : ''}`), cut };
}

function firstDifference(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let at = 0;
  while (at < shorter && one[at] === other[at]) at += 1;
  return at;
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.length === 0 ? null : value.map((one) => textOf(one) ?? '—').join(', ');
  const { name } = value as { name?: unknown };
  return typeof name === 'string' ? name : JSON.stringify(value);
}

/**
 * Control characters become visible, and those that change the direction of writing are removed: a name must not move or hide what stands
 * next to it.
 */
export function readable(text: string): string {
  return (
    text
      .replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/gu, '')
      .replace(/[\u0000-\u0008\u000b-\u001f]/gu, (character) =>
        String.fromCharCode(0x2400 + (character.codePointAt(0) ?? 0)),
      )
      .replace(/[\u007f-\u009f]/gu, '\u2421')
      // Half a character, where a text was cut.
      .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
  );
}
