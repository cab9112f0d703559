/** A workspace's rules about fields, compiled once per list: which fields are compared, and which the system keeps. */
import { z } from 'zod';
import { digestOf, isRelabelled, type FieldChange } from '../../crm/canonical.js';
import type { ListDescriptor } from '../../crm/lists/descriptor.js';
import { descriptorOf, type ListRef } from '../../crm/lists/lists.js';
import { compilePattern } from '../../events/pattern.js';
import { ChangefeedError } from '../../kit/errors.js';
import type { UncheckedRecord } from '../../crm/record.js';
import { isStampField } from './fields.js';
import { compileMasks, keyedDigest, MASKED_FORM, maskRecord, type MaskOf, type Masks } from './masks.js';
import { namedFields, type NamedField } from './named-fields.js';

export interface FieldRules {
  /** Field patterns (`*` for any run of characters) that never make an event. */
  ignore?: readonly string[];
  /** When given, only fields that match make an event. */
  only?: readonly string[] | undefined;
  /** Further fields that the system keeps. Changes in these alone are `refreshed`. */
  refreshed?: readonly string[];
  /** Null, absent and an empty list mean the same. @defaultValue true */
  nullIsAbsent?: boolean | undefined;
  /** A new `modifiedAt` with equal content makes an `updated` event without changes. @defaultValue false */
  touch?: boolean | undefined;
  /** A field that appears, vanishes or changes its value type on nearly all rows makes one schema event. @defaultValue true */
  collapse?: boolean | undefined;
  /** Fields that are kept in another form. @defaultValue none */
  mask?: Masks | undefined;
}

export const todoWatchSchema = z
  .object({
    /** IANA name of the time zone in which days end. */
    timeZone: z.string(),
    /** A todo is due soon this long before its deadline. */
    dueSoonMs: z.number(),
  })
  .readonly();
export type TodoWatch = z.infer<typeof todoWatchSchema>;

export interface Rules {
  readonly list: ListDescriptor;
  readonly nullIsAbsent: boolean;
  readonly touch: boolean;
  readonly collapse: boolean;
  /** Identifies the masks and the key, under which a record is stored; empty: no field is masked. */
  readonly masks: string;
  readonly maskOf: MaskOf;
  /** What the options name, of which a row may have none. */
  readonly named: readonly NamedField[];
  /** A record as it is compared and stored. @throws ChangefeedError CF_INTERNAL where fields are masked, before `withKey` */
  readonly masked: (record: UncheckedRecord) => UncheckedRecord;
  /** Goes into digests of rows. All but the masked fields of a row may be known. */
  readonly rowKey: string;
  /** Null: todos have no derived events and no timers. */
  readonly watch: TodoWatch | null;
  readonly compares: (field: string) => boolean;
  /** Does the system keep the field by itself? */
  readonly isSystemKept: (field: string) => boolean;
  /** The rule that keeps a field out of the comparison, as `explain` prints it. Null when the field takes part. */
  readonly mutedBy: (field: string) => string | null;
}

export function compileRules(of: ListRef, options: FieldRules = {}, watch: TodoWatch | null = null): Rules {
  const list = descriptorOf(of);
  const { ignore = [], only, refreshed = [], nullIsAbsent = true, touch = false, collapse = true, mask = {} } = options;
  const hasMasks = Object.keys(mask).length > 0;
  const ignoring = ignore.map((pattern) => ({ pattern, matches: matcher([pattern]) }));
  const wanted = only === undefined ? () => true : matcher(only);
  const mutedBy = (field: string): string | null => {
    if (isStampField(field, list)) return 'stamp';
    const rule = ignoring.find(({ matches }) => matches(field));
    if (rule !== undefined) return `ignore: ${rule.pattern}`;
    return wanted(field) ? null : 'only';
  };
  return {
    list,
    nullIsAbsent,
    touch,
    collapse,
    masks: hasMasks ? digestOf(JSON.stringify([MASKED_FORM, ...Object.entries(mask)])).slice(0, TAG_LENGTH) : '',
    maskOf: compileMasks(mask, list),
    named: namedFields(options),
    masked: hasMasks ? withoutKey : (record) => record,
    rowKey: '',
    watch: list.name === 'todo' ? watch : null,
    compares: (field) => mutedBy(field) === null,
    isSystemKept: matcher([...list.systemKept, ...refreshed]),
    mutedBy,
  };
}

function withoutKey(): never {
  throw new ChangefeedError('CF_INTERNAL', { message: 'A record was to be masked without the key of its workspace.' });
}

/** The rules of a list with masked fields, once it is read. Under another key, and so in another state, every masked field has another form. */
export function withKey(rules: Rules, key: string): Rules {
  const masks = `${rules.masks}${keyedDigest(key, 'masks', TAG_LENGTH)}`;
  return { ...rules, masks, rowKey: `${masks}${key}`, masked: (record) => maskRecord(record, rules.maskOf, key) };
}

/** Two sets of masks have the same tag once in 16 million times. Then a change of the masks may yield events. */
const TAG_LENGTH = 4;

/** The rule of a decision that a change of the schema explains. */
export const SCHEMA_RULE = 'schema';

/** The same rules without the fields that a change of the schema has moved. */
export function withoutFields(rules: Rules, fields: ReadonlySet<string>): Rules {
  if (fields.size === 0) return rules;
  const mutedBy = (field: string): string | null => (fields.has(field) ? SCHEMA_RULE : rules.mutedBy(field));
  return { ...rules, mutedBy, compares: (field) => mutedBy(field) === null };
}

/** Whether a person or an integration made the change, and neither the system nor a change of another record. */
export function isEdit(change: FieldChange, { isSystemKept }: Rules): boolean {
  return !isSystemKept(change.field.normalize('NFC')) && !isRelabelled(change);
}

/** The same rules with every field compared, to find what a rule has muted. */
export function withEveryField(rules: Rules): Rules {
  return { ...rules, compares: (field) => !isStampField(field, rules.list) };
}

/** Patterns are compared under NFC, because the same Korean name can be encoded in two ways. */
function matcher(patterns: readonly string[]): (field: string) => boolean {
  const compiled = patterns.map((pattern) => compilePattern(pattern.normalize('NFC')));
  return (field) => compiled.some((matches) => matches(field));
}
