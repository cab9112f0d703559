/** Conditions on a field before and after the change. Values are never converted; a reference is known by its id or its name. */
import { z } from 'zod';
import { isReference, isRelabelled, meaningOf } from '../../crm/canonical.js';
import type { ChangeEvent, FieldChange } from '../../events/types.js';
import { equal, plain, valueAtPath, type Plain } from './values.js';

type OneOf = Plain | readonly Plain[];
type By = number | `${number}%`;

/** What the value of a field did. All operators but `becomes` need the record before and after the change. */
export type ChangeCondition =
  /** The number is higher than before, by at least `by`: a number, or a share of the one before such as `'20%'`. */
  | { readonly rises: true; readonly by?: By | undefined }
  /** The number is lower than before. */
  | { readonly falls: true; readonly by?: By | undefined }
  /** It was this value (or one of these) and is no longer, or with `to`: is that one now. */
  | { readonly from: OneOf; readonly to?: OneOf | undefined }
  /** It was not this value (or one of these) and is now; also where the record is new. */
  | { readonly becomes: OneOf }
  /** It is another value than before; a new name beside the same id is not. */
  | { readonly changes: true };

const A_BY = "a number above 0, or a percentage above 0 such as '20%'";
const ONE_OF =
  "one of { rises: true }, { falls: true } (each with or without by), { from: 'B', to: 'A' }, { becomes: 'A' } and { changes: true }";
const oneOf = z.union([plain, z.array(plain).min(1)], { error: 'a value, or an array of values' });
const yes = z.literal(true, { error: 'true' });

const shape = {
  rises: yes,
  falls: yes,
  by: z.union([z.number(), z.string()]).refine((by) => amountOf(by) > 0, { error: A_BY }),
  from: oneOf,
  to: oneOf,
  becomes: oneOf,
  changes: yes,
};
export const CHANGE_OPERATORS = Object.keys(shape) as readonly (keyof typeof shape)[];
const MAY_FOLLOW: Readonly<Record<string, string>> = { rises: 'by', falls: 'by', from: 'to' };

export const changeCondition = z
  .strictObject(shape)
  .partial()
  .refine((given) => {
    const [first = '', ...rest] = CHANGE_OPERATORS.filter((operator) => given[operator] !== undefined);
    return first !== 'by' && first !== 'to' && rest.every((operator) => MAY_FOLLOW[first] === operator);
  }, ONE_OF)
  .refine(({ from, to }) => to === undefined || listOf(to).some((one) => !listOf(from ?? []).includes(one)), {
    error: 'another value than from',
    path: ['to'],
  });

/**
 * A field changes where the event says so: what detection does not compare (`ignore`) may differ in the records and does not change.
 * @param path the name of a field, which may lead into a reference (`담당자.id`)
 */
export function compileChange(path: string, condition: ChangeCondition): (event: ChangeEvent) => boolean {
  const holds = compare(condition);
  const isForNew = 'becomes' in condition;
  return ({ type, data: { before, after, changes } }) => {
    if (after === null) return false;
    // What a record without a stored image was before is not known. A new record was nothing.
    if (before === null) return isForNew && type.endsWith('.created') && holds(null, valueAtPath(after, path) ?? null);
    const { was, is } = changed(changes, path);
    return (was !== undefined || is !== undefined) && holds(was ?? null, is ?? null);
  };
}

function changed(changes: readonly FieldChange[], path: string): { was: unknown; is: unknown } {
  return { was: valueAtPath(fieldsOf(changes, 'before'), path), is: valueAtPath(fieldsOf(changes, 'after'), path) };
}

/** Before and after, where the event says that the field has changed; otherwise the one value. */
export function changeAt(path: string, { data: { before, after, changes } }: ChangeEvent): readonly unknown[] {
  const { was, is } = changed(changes, path);
  return was === undefined && is === undefined ? [valueAtPath(after ?? before, path)] : [was, is];
}

function fieldsOf(changes: readonly FieldChange[], side: 'before' | 'after'): Record<string, unknown> {
  return Object.fromEntries(changes.map((change) => [change.field, change[side]]));
}

type Compare = (before: unknown, after: unknown) => boolean;

function compare(condition: ChangeCondition): Compare {
  if ('rises' in condition) return risesBy(condition.by);
  if ('falls' in condition) {
    const rises = risesBy(condition.by);
    return (before, after) => typeof after === 'number' && typeof before === 'number' && rises(-before, -after);
  }
  if ('changes' in condition)
    return (before, after) => meaningOf(before) !== meaningOf(after) && !isRelabelled({ before, after });
  const [wasIt, isIt] = 'from' in condition ? [isOneOf(condition.from), condition.to] : [null, condition.becomes];
  const isNow = isIt === undefined ? null : isOneOf(isIt);
  return (before, after) =>
    (wasIt === null ? isNow?.(before) === false : wasIt(before)) &&
    (isNow === null ? wasIt?.(after) === false : isNow(after));
}

/** The error of adding decimals: 1.1 to 1.32 is 20 %. */
const ROUNDING = 1e-9;

function risesBy(by: number | string | undefined): Compare {
  return (before, after) => {
    if (typeof before !== 'number' || typeof after !== 'number' || after <= before) return false;
    const least = by === undefined ? 0 : typeof by === 'number' ? by : (amountOf(by) / 100) * Math.abs(before);
    return after - before >= least - ROUNDING * Math.max(Math.abs(before), Math.abs(after));
  };
}

function amountOf(by: number | string): number {
  if (typeof by === 'number') return Number.isFinite(by) ? by : Number.NaN;
  return /^\d+(\.\d+)?%$/.test(by) ? Number(by.slice(0, -1)) : Number.NaN;
}

const listOf = (given: OneOf): readonly Plain[] =>
  Array.isArray(given) ? (given as readonly Plain[]) : [given as Plain];

/** A list is each of its elements, such as each team of `팀`; an empty one is null. */
function isOneOf(wanted: OneOf): (value: unknown) => boolean {
  const tests = listOf(wanted).map(equal);
  const isIt = (value: unknown): boolean => tests.some((test) => test(value));
  return (value) => {
    if (Array.isArray(value))
      return value.length === 0 ? isIt(null) : value.some((one) => isIt(one) || isReferred(one, isIt));
    return isIt(value) || isReferred(value, isIt);
  };
}

/** A reference is known by its id or its name. */
export function isReferred(value: unknown, isIt: (value: unknown) => boolean): boolean {
  if (!isReference(value)) return false;
  const { id, _id, name } = value as { id?: unknown; _id?: unknown; name?: unknown };
  return [id, _id, name].some((one) => one !== undefined && one !== null && isIt(one));
}
