/** Identifies a record: by its id, or by its content in a list whose rows may have no id. */
import { ChangefeedError, describe } from '../../kit/errors.js';
import { canonicalText, digestOf } from '../../crm/canonical.js';
import type { UncheckedRecord } from '../../crm/record.js';
import type { Rules } from './rules.js';

const CONTENT = 'content-';

/**
 * A row without an id is stored under a digest of its content, so a changed row is a new row. Equal rows of one page
 * are numbered by `occurrence`; equal content on another page counts as the same row.
 * @throws ChangefeedError CF_PAGE_MALFORMED when a record of a list that must carry ids (section 2) has none
 */
export function recordKey(
  row: { readonly id: unknown; readonly record: UncheckedRecord },
  rules: Rules,
  occurrence: (key: string) => number = () => 1,
): string {
  const { id } = row;
  if (typeof id === 'string' && id !== '') return id;
  if (id === undefined && rules.list.ids === 'optional') {
    // Independent of the rules and of what texts mean: a change of either must not give the same rows other keys.
    const form = { list: rules.list, compares: () => true, nullIsAbsent: true, asWritten: true };
    const key = CONTENT + digestOf(canonicalText(row.record, form));
    const count = occurrence(key);
    return count === 1 ? key : `${key}-${count}`;
  }
  throw new ChangefeedError('CF_PAGE_MALFORMED', {
    list: rules.list.name,
    message: `List "${rules.list.name}": expected every record to carry an "id" string, found ${describe(id)}. Nothing of the page was written; it is read again.`,
  });
}

/** Ids belong to the CRM: one that only begins as such a key does is an id. */
const KEY_OF_CONTENT = new RegExp(`^${CONTENT}[\\w-]{22}(-\\d+)?$`, 'u');

/** A row known by its content gets another key when it changes, so its absence is no removal. */
export function isKnownByContent(key: string, { list: { ids } }: Pick<Rules, 'list'>): boolean {
  return ids === 'optional' && KEY_OF_CONTENT.test(key);
}
