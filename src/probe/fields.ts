/** The fields of the sampled records: names of the interface, shares and counts; never a value or the name of a custom field. Pure. */
import { isReference } from '../crm/canonical.js';
import { REFERENCE_FIELDS, seenFields, writtenFields } from '../crm/known-fields.js';
import type { ListDescriptor } from '../crm/lists/descriptor.js';
import { builtInLists, type BuiltInList } from '../crm/lists/lists.js';
import type { UncheckedRecord } from '../crm/record.js';
import { walkedPages, type Sample } from './sample.js';

export type Precision = 'ms' | 'seconds' | 'minutes' | 'days';

export interface ListFields {
  /** Fields of the interface that some record has, and those that none has. Null where the interface shows no fields. */
  written: { present: number; missing: string[] } | null;
  /** Known from other real answers. */
  seenElsewhere: string[];
  /** All other names; most of them are custom fields. */
  others: number;
  /** How a list with two spellings writes its fields; null for a list with one. */
  spelling: 'as in the interface' | 'as in real answers' | 'both' | null;
  /** How empty fields are sent. `absent`: records have different sets of fields. */
  empties: 'null' | 'absent' | 'both' | 'none seen';
  /** The finest precision of the stamps; null when there are none. */
  created: Precision | null;
  modified: Precision | null;
  /** Field → share of the records in which it names another record. */
  references: Record<string, number>;
  /** Records without an id. */
  withoutId: number;
}

export function fieldsOf(list: ListDescriptor, samples: readonly Sample[]): ListFields {
  const records = walkedPages(samples).flatMap(({ page }) => page.records);
  const names = new Set(records.flatMap((record) => Object.keys(record)));
  return {
    ...namesOf(list, names),
    spelling: spellingOf(list, names),
    empties: emptiesOf(records),
    created: precisionOf(records, list.createdAt),
    modified: precisionOf(records, list.modifiedAt),
    references: referencesOf(records),
    withoutId: records.filter(({ id }) => typeof id !== 'string').length,
  };
}

function namesOf(
  { name, spellings }: ListDescriptor,
  names: ReadonlySet<string>,
): Pick<ListFields, 'written' | 'seenElsewhere' | 'others'> {
  const builtIn = builtInLists.byName(name) !== undefined;
  // Only these names may appear in a report.
  const written = builtIn ? writtenFields(name as BuiltInList) : [];
  const known = builtIn ? seenFields(name as BuiltInList) : [];
  const respelt = new Set(Object.entries(spellings).flatMap(([other, own]) => (names.has(other) ? [own] : [])));
  const seenElsewhere = known.filter((field) => names.has(field));
  const missing = written.filter((field) => !names.has(field) && !respelt.has(field));
  const named = new Set([...written, ...seenElsewhere]);
  return {
    written: written.length === 0 ? null : { present: written.length - missing.length, missing },
    seenElsewhere,
    others: [...names].filter((field) => !named.has(field)).length,
  };
}

function spellingOf({ spellings }: ListDescriptor, names: ReadonlySet<string>): ListFields['spelling'] {
  const pairs = Object.entries(spellings);
  if (pairs.length === 0 || names.size === 0) return null;
  const own = pairs.some(([, name]) => names.has(name));
  const other = pairs.some(([name]) => names.has(name));
  if (own && other) return 'both';
  return other ? 'as in real answers' : 'as in the interface';
}

function emptiesOf(records: readonly UncheckedRecord[]): ListFields['empties'] {
  const nulls = records.some((record) => Object.values(record).includes(null));
  const absent = new Set(records.map((record) => Object.keys(record).sort().join('\n'))).size > 1;
  if (nulls && absent) return 'both';
  if (nulls) return 'null';
  return absent ? 'absent' : 'none seen';
}

function precisionOf(records: readonly UncheckedRecord[], fields: readonly string[]): Precision | null {
  const field = fields.find((name) => records.some((record) => typeof record[name] === 'string'));
  if (field === undefined) return null;
  const times = records.flatMap((record) => {
    const time = Date.parse(typeof record[field] === 'string' ? record[field] : '');
    return Number.isNaN(time) ? [] : [time];
  });
  if (times.length === 0) return null;
  if (times.some((time) => time % 1_000 !== 0)) return 'ms';
  if (times.some((time) => time % 60_000 !== 0)) return 'seconds';
  return times.some((time) => time % 86_400_000 !== 0) ? 'minutes' : 'days';
}

function referencesOf(records: readonly UncheckedRecord[]): Record<string, number> {
  const shares = REFERENCE_FIELDS.map((field) => {
    const naming = records.filter((record) => isNamed(record[field])).length;
    return [field, Math.round((naming / Math.max(1, records.length)) * 100) / 100] as const;
  });
  return Object.fromEntries(shares.filter(([, share]) => share > 0));
}

function isNamed(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : isReference(value);
}
