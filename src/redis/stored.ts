/**
 * Checks what is read from Redis, as others may have changed it: a value without the expected form is refused with its
 * key's name, and decides nothing. Messages give types and sizes, never contents.
 */
import type { z } from 'zod';
import { ChangefeedError, describe } from '../kit/errors.js';
import { recordField, shownField } from './keys.js';

const OTHER_RELEASE = 'If another release wrote it, run that release or set another redis.prefix.';

/** Kinds of stored values, and what to do when one cannot be read. `{remove}` is the command that removes it. */
const REMEDIES = {
  'what was last known of the rules':
    '{remove} removes it; a process that has the file writes it again within a minute.',
  'the id of a state': '{remove} removes it; the next sweep writes a new one.',
  'an event of the log': 'XDEL {key} {field} removes the entry; subscriptions then go on with the next one.',
  'since when a subscription is unconfigured': '{remove} removes it; the 7 days then start again.',
  'a timer of a todo': 'ZREM removes the member; ZRANGE {key} 0 -1 shows all.',
  'rows of a history': '{remove} removes it; the changes in these rows are then reported without who made them.',
  'when a problem was last seen': '{remove} removes it; if the problem lasts, a notice is published once more.',
  'facts of a problem': '{remove} removes it; the end of this problem is then not reported.',

  'the checkpoint of a sweep': '{remove} removes it; the next sweep then starts at the first page.',
  'the summary of the last complete sweep':
    "{remove} removes it; the next sweep then runs without the previous one's findings (schema changes, held records, usual pause).",
  'fields that drifted':
    '{remove} removes it; rows that follow the change of the schema only now are then reported one by one.',
  'why the last attempts to sweep a list failed':
    '{remove} removes it; the list is then swept as if its last attempt had not failed.',
  'when the baseline was complete': 'Restore Redis from a backup, or remove the field with {remove}.',
  'when a person accepted held records': 'Restore Redis from a backup, or remove the field with {remove}.',
  'held new records': '{remove} removes it; the next sweep that holds new records names some again.',
  'a count': 'Restore Redis from a backup, or remove the field with {remove}.',
  'what shortcuts have learned': "{remove} removes it; the list's shortcuts then learn from the beginning.",
  'since when records are followed': '{remove} removes it; their list is then looked at once more.',
  'how todos are watched': '{remove} removes it; the timers of all todos are then set again.',
  'a page': '{remove} removes it; the page is then compared record by record.',
  'the members of a page': `Restore Redis from a backup, or remove the page ({remove}); removals of records that stood only on this page are then not noticed. ${OTHER_RELEASE}`,
  'since when a record is missing': '{remove} removes it; the record then counts as not missing.',
  'a stored record': `Restore Redis from a backup, or remove the record ({remove}), which then counts as new. ${OTHER_RELEASE}`,

  'a change of a history': 'XDEL {key} {field} removes the entry; what the record was before it is then not known.',

  'an offset in the log': 'HSET {key} {field} <log id> sets it; {remove} makes the subscription begin as a new one.',
  'an entry of an ordering group': 'LPOP removes the first entry; LRANGE {key} 0 -1 shows all.',
  'an event of an ordering group': '{remove} drops the event; its delivery then counts as handled.',
  'the task of a snapshot or replay': '{remove} ends this snapshot or replay; what it has not sent is not sent.',
  'an event of a snapshot': '{remove} drops the events of the snapshot that are being sent.',
  'receipts of deliveries': '{remove} removes all receipts of the subscription; deliveries do not depend on them.',
  'what was verified': '{remove} removes it; the copy then counts as never verified.',
  'a number of the circuit breaker': 'DEL {key} resumes the subscription.',
};

/** For what decides nothing where it cannot be read. */
export function jsonOrNull(text: string | null = null): unknown {
  try {
    return JSON.parse(text ?? 'null') as unknown;
  } catch {
    return null;
  }
}

export interface StoredAt {
  what: keyof typeof REMEDIES;
  key: string;
  /** The field of a hash, or the entry of a stream. */
  field?: string;
}

/** @param found what is there instead: type and size, never contents */
export function unreadable({ what, ...place }: StoredAt, found: string): ChangefeedError {
  const { key, field } = place;
  const where = field === undefined ? `"${key}"` : `"${key}", "${field}"`;
  const shown = what === 'a stored record' ? shownField(recordField(field ?? '')) : `"${field ?? ''}"`;
  const remove = field === undefined ? `DEL ${key}` : `HDEL ${key} ${shown}`;
  const names = { remove, key, field };
  const remedy = REMEDIES[what].replace(/\{(\w+)\}/g, (_, name: keyof typeof names) => names[name] ?? '');
  // The cause is left out: messages of JSON.parse quote the text.
  return new ChangefeedError('CF_STATE_UNREADABLE', {
    ...place,
    message: `Redis key ${where}: expected ${what}, found ${found}. Nothing was written. ${remedy}`,
  });
}

/** Not the schema's copy: that loses the property `__proto__`, and a field of the CRM may have that name. */
export function readJson<T>(schema: z.ZodType<T>, text: string, at: StoredAt): T {
  return checked(schema, parseJson(text, at), at);
}

export function parseJson(text: string, at: StoredAt): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw unreadable(at, `${describe(text)} that is not JSON`);
  }
}

export function checked<T>(schema: z.ZodType<T>, value: unknown, at: StoredAt): T {
  const { error } = schema.safeParse(value);
  if (error === undefined) return value as T;
  // Only the first name: names further inside may come from records.
  const wrong = error.issues[0]?.path[0];
  throw unreadable(at, wrong === undefined ? describe(value) : `${describe(value)} whose "${String(wrong)}" is wrong`);
}

/** A number that a script or HINCRBY wrote as decimal digits. */
export function readNumber(text: string, at: StoredAt): number {
  if (/^-?\d+$/u.test(text)) return Number(text);
  throw unreadable(at, describe(text));
}

/** A time in ISO 8601, or null where there is none. */
export function readTime(text: string | null, at: StoredAt): string | null {
  if (text === null || !Number.isNaN(Date.parse(text))) return text;
  throw unreadable(at, describe(text));
}
