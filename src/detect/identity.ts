/** Which record is this? Its id; for history and activity, whose form is not written, the content where no id is given. */
import { ChangefeedError, describe } from '../errors.js';
import { canonicalText } from './canonical.js';
import { digestOf } from './digest.js';
import type { UncheckedRecord } from '../crm/record.js';
import type { Rules } from './rules.js';

const CONTENT = 'content-';

/** In UTF-8 they fit the two bytes of a length in the members of a page (state/membership.ts). */
const LONGEST_ID = 16_000;

/**
 * The key under which a record is remembered. Content alone tells nothing of later changes, and two equal rows of one page
 * are told apart by `occurrence`; the same content on another page is taken for the same row seen again.
 * @throws ChangefeedError CF_PAGE_MALFORMED when a record of a list that must carry ids (section 2) has none
 */
export function recordKey(
  record: UncheckedRecord,
  rules: Rules,
  occurrence: (key: string) => number = () => 1,
): string {
  const { id } = record;
  if (typeof id === 'string' && id !== '') return checkedLength(id, rules);
  const mayLackId = rules.list === 'history' || rules.list === 'activity';
  if (id === undefined && mayLackId) {
    // Whatever the rules leave out of the comparison: a change of rules must not make other records of the same rows.
    const key = CONTENT + digestOf(canonicalText(record, { ...rules, compares: () => true, nullIsAbsent: true }));
    const count = occurrence(key);
    return count === 1 ? key : `${key}-${count}`;
  }
  throw new ChangefeedError('CF_PAGE_MALFORMED', {
    list: rules.list,
    message: `List "${rules.list}": expected every record to carry an "id" string, found ${describe(id)}. Nothing of the page was written; it will be asked for again.`,
  });
}

function checkedLength(id: string, { list }: Rules): string {
  if (id.length <= LONGEST_ID) return id;
  throw new ChangefeedError('CF_PAGE_MALFORMED', {
    list,
    message: `List "${list}": expected an "id" of at most ${LONGEST_ID} characters, found one of ${id.length}. Nothing of the page was written; it will be asked for again.`,
  });
}

/** A row known by its content cannot be told from another when it changes: its absence is no removal. */
export function isKnownByContent(key: string): boolean {
  return key.startsWith(CONTENT);
}
