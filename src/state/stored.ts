/**
 * Checks what is read from Redis. A person, another program or another release may have changed a value. A value that
 * does not have the expected form is refused with its key's name; nothing is decided or written from it. Messages give types
 * and sizes, never contents.
 */
import type { z } from 'zod';
import { ChangefeedError, describe } from '../errors.js';

export interface StoredAt {
  key: string;
  /** The field of a hash, or the entry of a stream. */
  field?: string;
  /** What is stored there: "a checkpoint". */
  what: string;
  /** What a person can do, as a sentence. */
  remedy: string;
}

/**
 * @param found what is there instead: type and size, never contents
 * @returns CF_STATE_UNREADABLE
 */
export function unreadable({ key, field, what, remedy }: StoredAt, found: string): ChangefeedError {
  const place = field === undefined ? `Redis key "${key}"` : `Redis key "${key}", "${field}"`;
  // Without the cause: messages of JSON.parse quote the text.
  return new ChangefeedError('CF_STATE_UNREADABLE', {
    key,
    ...(field !== undefined && { field }),
    message: `${place}: expected ${what}, found ${found}. Nothing was written. ${remedy}`,
  });
}

/**
 * Parses JSON and checks it. Returns the parsed value itself, not the schema's copy: a copy loses the property `__proto__`, and a
 * field of the CRM may have that name.
 */
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
