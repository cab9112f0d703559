/** Which record is this? Its id; for history and activity, whose form is not written, the content where no id is given. */
import { ChangefeedError, describe } from '../errors.js';
import { canonicalText } from './canonical.js';
import { digestOf } from './digest.js';
import type { RawValue } from './raw.js';
import type { Rules } from './rules.js';

/**
 * The key under which a record is remembered.
 * @throws ChangefeedError CF_PAGE_MALFORMED when a record of a list that must carry ids (section 2) has none
 */
export function recordKey(record: RawValue, rules: Rules): string {
  const { id } = record;
  if (typeof id === 'string' && id !== '') return id;
  const mayLackId = rules.list === 'history' || rules.list === 'activity';
  if (id === undefined && mayLackId) return `content-${digestOf(canonicalText(record, rules))}`;
  throw new ChangefeedError('CF_PAGE_MALFORMED', {
    list: rules.list,
    message: `List "${rules.list}": expected every record to carry an "id" string, found ${describe(id)}. Nothing of the page was written; it will be asked for again.`,
  });
}
