/** The fields that masks leave out, which the stored records do not show, and what options name in vain. Walks only: each shows every page. */
import type { Page } from '../api/read-api.js';
import { rowsOf } from '../api/rows.js';
import { unmatched } from '../detect/named-fields.js';
import type { Checkpoint, SweepSummary } from '../store/sweep-state.js';
import type { FeedList } from './list.js';

/** A record whose fields are people's data would make the checkpoint as large as the list. */
const MOST_OMITTED = 300;

/** @param page null: it has the bytes of the last complete sweep, and what that has left out */
export function omittedWith(list: FeedList, page: Page | null): Pick<Checkpoint, 'omitted'> {
  const { rules, checkpoint, lastSweep } = list;
  if (!rules.named.some(({ option }) => option === 'mask')) return {};
  const { masks, fields } = checkpoint.omitted ?? { masks: checkpoint.pages === 0 ? rules.masks : '', fields: [] };
  const all = new Set(fields);
  if (page === null) for (const field of lastSweep?.omitted?.fields ?? []) all.add(field);
  else
    for (const { record } of rowsOf(page))
      for (const field of Object.keys(record)) if (rules.maskOf(field) === 'drop') all.add(field);
  return { omitted: { masks: masks === rules.masks ? masks : '', fields: [...all].slice(0, MOST_OMITTED) } };
}

/** Of what is known of a part of the rows only, nothing is said. */
export function unmatchedIn(
  { rules, tracked }: FeedList,
  { counts, omitted }: Checkpoint,
): Pick<SweepSummary, 'unmatched'> {
  const fields = tracked.all;
  if (rules.named.length === 0 || fields === null || fields.size === 0 || counts.seen === 0) return {};
  if (rules.masks !== '' && (omitted?.masks !== rules.masks || omitted.fields.length === MOST_OMITTED)) return {};
  const found = unmatched(rules.named, rules.list, [...fields, ...(omitted?.fields ?? [])]);
  return found.length === 0 ? {} : { unmatched: found };
}
