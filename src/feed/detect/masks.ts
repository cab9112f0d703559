/**
 * Fields that are kept in another form: a record is masked as soon as it is read, before it is compared, stored or delivered. A keyed digest
 * is part of the form, so that a change is still found, and says nothing to who has not the key of the workspace. Pure.
 *
 *   last4   `…1234#q7Xa_0`            the last four characters, and six of the digest
 *   hash    `#q7Xa_0bN3kW9sT1r`       sixteen characters of the digest: equal values have equal ones in the whole workspace
 *   drop    the field does not exist
 *
 * The pattern `*` is every field without an entry of its own, but for those that the list is read by.
 */
import { createHmac } from 'node:crypto';
import { meaningOfText } from '../../crm/canonical.js';
import type { ListDescriptor } from '../../crm/lists/descriptor.js';
import type { UncheckedRecord } from '../../crm/record.js';
import { compilePattern } from '../../events/pattern.js';
import { TODO_FIELDS } from '../../crm/todo-fields.js';

export const MASKS = ['last4', 'hash', 'drop'] as const;
export type Mask = (typeof MASKS)[number];
/** Field patterns and their masks; the first that matches counts. */
export type Masks = Readonly<Record<string, Mask>>;

/** Counts the forms that this file has given to masked values: in another one, what is stored has other masks. */
export const MASKED_FORM = 2;

export type MaskOf = (field: string) => Mask | undefined;

/** A field is looked for by its name in the interface and as the record spells it, so that neither lets a value through. */
export function compileMasks(masks: Masks, list: ListDescriptor): MaskOf {
  const { spellings } = list;
  const { [EVERY_FIELD]: others, ...named } = masks;
  const plain = new Set(fieldsReadBy(list));
  const compiled = Object.entries(named).map(([pattern, mask]) => {
    return { mask, matches: compilePattern(pattern.normalize('NFC')) };
  });
  return (field) => {
    const name = field.normalize('NFC');
    const written = Object.hasOwn(spellings, name) ? (spellings[name] ?? name) : name;
    const own = compiled.find(({ matches }) => matches(name) || matches(written));
    return own?.mask ?? (plain.has(name) || plain.has(written) ? undefined : others);
  };
}

const EVERY_FIELD = '*';

/** Fields that identify a record, and that say when it was changed, and whether and when a todo is due. */
function fieldsReadBy({ name, modifiedAt, createdAt }: ListDescriptor): string[] {
  const { done, doneAt, due } = TODO_FIELDS;
  return ['id', ...modifiedAt, ...createdAt, ...(name === 'todo' ? [...done, ...doneAt, ...due] : [])];
}

export function maskRecord(record: UncheckedRecord, maskOf: MaskOf, key: string): UncheckedRecord {
  const fields = Object.entries(record).flatMap(([field, value]): [string, unknown][] => {
    const mask = maskOf(field);
    if (mask === undefined) return [[field, value]];
    return mask === 'drop' ? [] : [[field, masked(value, mask, key)]];
  });
  return Object.fromEntries(fields);
}

/** Each text, number, yes and no in it. That there is no value stays visible. */
function masked(value: unknown, mask: 'last4' | 'hash', key: string): unknown {
  if (Array.isArray(value)) return value.map((one) => masked(one, mask, key));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, masked(one, mask, key)]));
  if (value === '' || value === null || value === undefined) return value;
  // Otherwise a link that is signed anew in every answer would be an edit in every sweep.
  const text = meaningOfText(typeof value === 'string' ? value : JSON.stringify(value));
  return mask === 'hash' ? `#${keyedDigest(key, text, 16)}` : `…${endOf(text)}#${keyedDigest(key, text, 6)}`;
}

/** Empty for a short text, of which the end would be most. */
function endOf(text: string): string {
  const characters = Array.from(text);
  return characters.length < 8 ? '' : characters.slice(-4).join('');
}

/** A digest with a key, without which trying all likely texts does not find this one. */
export function keyedDigest(key: string, text: string, length: number): string {
  return createHmac('sha256', key).update(text).digest('base64url').slice(0, length);
}
